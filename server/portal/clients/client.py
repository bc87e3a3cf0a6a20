import hashlib, hmac, json, os, urllib.error, urllib.request
from datetime import datetime, timezone
from urllib.parse import urlsplit


def send(method, target, body=None, once=None):
    """Sends a signed request. target is path and query, percent-encoded; once is an Idempotency-Key."""
    base = os.environ.get("LOYALTY_URL", "http://127.0.0.1:8080")
    region = os.environ.get("LOYALTY_REGION", "local")
    payload = b"" if body is None else json.dumps(body).encode()
    date = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers = {"date": date, "host": urlsplit(base).netloc}
    if body is not None:
        headers["content-type"] = "application/json"
    if once:
        headers["idempotency-key"] = once

    path, _, query = target.partition("?")
    names = sorted(headers)
    canonical = "\n".join([
        method, path, "&".join(sorted(query.split("&"))), *(f"{name}:{headers[name]}" for name in names), "",
        ";".join(names), hashlib.sha256(payload).hexdigest(),
    ])
    scope = f"{date[:8]}/{region}/api/service_request"
    text = "\n".join(["SERVICE-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("SERVICE" + os.environ["LOYALTY_SECRET"]).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    headers["authorization"] = (
        f"SERVICE-HMAC-SHA256 Credential={os.environ['LOYALTY_KEY_ID']}/{scope}, "
        f"SignedHeaders={';'.join(names)}, Signature={signature}"
    )

    request = urllib.request.Request(base + target, payload if body is not None else None, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            json_type = answer.headers.get_content_type() == "application/json"
            return answer.status, json.load(answer) if json_type else answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)
