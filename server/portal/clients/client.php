<?php

// Sends a signed request. $target is path and query, percent-encoded; $once is an Idempotency-Key.
function send(string $method, string $target, mixed $body = null, ?string $once = null): array
{
    $base = getenv('LOYALTY_URL') ?: 'http://127.0.0.1:8080';
    $payload = $body === null ? '' : json_encode($body, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION);
    $date = gmdate('Ymd\THis\Z');
    $headers = ['date' => $date, 'host' => preg_replace('~^https?://~', '', $base)];
    if ($body !== null) {
        $headers['content-type'] = 'application/json';
    }
    if ($once !== null) {
        $headers['idempotency-key'] = $once;
    }

    [$path, $query] = explode('?', $target . '?');
    $pairs = explode('&', $query);
    sort($pairs, SORT_STRING);
    ksort($headers);
    $names = implode(';', array_keys($headers));
    $lines = array_map(fn ($name) => "$name:{$headers[$name]}", array_keys($headers));
    $canonical = implode("\n", [$method, $path, implode('&', $pairs), ...$lines, '', $names, hash('sha256', $payload)]);
    $scope = [substr($date, 0, 8), getenv('LOYALTY_REGION') ?: 'local', 'api', 'service_request'];
    $text = implode("\n", ['SERVICE-HMAC-SHA256', $date, implode('/', $scope), hash('sha256', $canonical)]);
    $key = 'SERVICE' . getenv('LOYALTY_SECRET');
    foreach ($scope as $part) {
        $key = hash_hmac('sha256', $part, $key, true);
    }
    $headers['authorization'] = 'SERVICE-HMAC-SHA256 Credential=' . getenv('LOYALTY_KEY_ID') . '/' . implode('/', $scope)
        . ", SignedHeaders=$names, Signature=" . hash_hmac('sha256', $text, $key);

    $context = stream_context_create(['http' => [
        'method' => $method, 'content' => $payload, 'ignore_errors' => true, 'timeout' => 30,
        'header' => array_map(fn ($name) => "$name: {$headers[$name]}", array_keys($headers)),
    ]]);
    $answer = file_get_contents($base . $target, false, $context);
    return [(int) explode(' ', $http_response_header[0])[1], json_decode($answer, true) ?? $answer];
}
