'use strict';

// Signs requests with the stock escher-auth library and sends them. Standard input is one JSON object:
// {port, scope, keyId, secret, requests: [{method, target, headers: [[name, value]], body, send, signed: [name]}]};
// `send`, where given, is the body that is sent instead of the signed one. Standard output is a JSON list of
// {status, text}, in the same order.

const http = require('http');
const Escher = require('escher-auth');

function sign(job, request) {
  const escher = new Escher({
    algoPrefix: 'SERVICE',
    vendorKey: 'SERVICE',
    hashAlgo: 'SHA256',
    credentialScope: job.scope,
    accessKeyId: job.keyId,
    apiSecret: job.secret,
    authHeaderName: 'Authorization',
    dateHeaderName: 'Date'
  });
  const host = '127.0.0.1:' + job.port;
  const options = {
    method: request.method,
    host: host,
    url: request.target,
    headers: [['Host', host]].concat(request.headers || [])
  };
  return escher.signRequest(options, request.body, request.signed || []).headers;
}

function send(job, request) {
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      host: '127.0.0.1', port: job.port, method: request.method, path: request.target, setHost: false
    });
    const grouped = new Map();
    for (const [name, value] of sign(job, request)) {
      grouped.set(name, (grouped.get(name) || []).concat(value));
    }
    grouped.forEach((values, name) => outgoing.setHeader(name, values.length === 1 ? values[0] : values));
    outgoing.on('error', reject);
    outgoing.on('response', response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', chunk => { text += chunk; });
      response.on('end', () => resolve({ status: response.statusCode, text: text }));
    });
    outgoing.end(request.send === undefined ? request.body : request.send);
  });
}

async function main() {
  const chunks = [];
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
  }
  const job = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const answers = [];
  for (const request of job.requests) {
    answers.push(await send(job, request));
  }
  process.stdout.write(JSON.stringify(answers));
}

main().catch(error => {
  process.stderr.write(String(error && error.stack || error) + '\n');
  process.exit(1);
});
