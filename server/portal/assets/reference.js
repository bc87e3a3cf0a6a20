import { sign, instant } from './sign.js';
import { plugin, keepAccessible } from './accessible.js';

const form = document.getElementById('choice'), field = form.elements, tries = form.dataset.try === 'true';
const chosen = new URLSearchParams(location.search).get('api');
if ([...field.api.options].some(option => option.value === chosen)) field.api.value = chosen;
field.api.addEventListener('change', () => { location.search = '?api=' + field.api.value; });
form.addEventListener('submit', event => event.preventDefault());

// Swagger UI is dark if the page is.
const dark = matchMedia('(prefers-color-scheme: dark)'), dress = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', dress);
dress();

// Every tried request is signed here and sent by the relay: a page may not set the header Date.
async function signed(request) {
  if (request.loadSpec) return request;
  const url = new URL(request.url, location.href), target = url.pathname + url.search, method = request.method.toUpperCase();
  const body = typeof request.body === 'string' ? request.body : request.body ? JSON.stringify(request.body) : '';
  const headers = {}, plain = [];
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const lower = name.toLowerCase();
    if (['content-type', 'idempotency-key'].includes(lower)) headers[lower] = value;
    else plain.push([lower, value]);
  }
  const made = await sign({
    method, target, host: location.host, headers, body, key: field.key.value.trim(), secret: field.secret.value.trim(),
    region: form.dataset.region, date: instant(new Date()),
  });
  return {
    ...request, url: '/docs/try', method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ method, target, headers: [...plain, ...made.headers], body }),
  };
}

// The answer inside the relay's answer is shown as the platform's.
function answered(response) {
  if (!response.url?.endsWith('/docs/try') || response.status !== 200) return response;
  const inner = JSON.parse(response.text);
  let object;
  try { object = JSON.parse(inner.body); } catch { object = undefined; }
  return Object.assign(response, {
    ok: inner.status < 400, status: inner.status, statusText: '', headers: Object.fromEntries(inner.headers.map(([name, value]) => [name.toLowerCase(), value])),
    text: inner.body, data: inner.body, body: object, obj: object, duration: inner.took,
  });
}

// The form for a request starts with the required parameters. Swagger UI would also fill in the example of every
// optional one.
function withoutOptional(document) {
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      operation.parameters = operation.parameters?.map(given => {
        const parameter = given.$ref ? given.$ref.slice(2).split('/').reduce((at, name) => at[name], document) : given;
        return parameter.required ? parameter : { ...parameter, example: undefined };
      });
    }
  }
  return document;
}

globalThis.addEventListener('load', async () => {
  const document = await (await fetch(`/openapi/${field.api.value}.json`)).json();
  keepAccessible(globalThis.document.getElementById('reference'));
  globalThis.SwaggerUIBundle({
    spec: withoutOptional(document), dom_id: '#reference', deepLinking: true, validatorUrl: null, docExpansion: 'list', defaultModelsExpandDepth: 0,
    supportedSubmitMethods: tries ? ['get', 'post'] : [], requestInterceptor: signed, responseInterceptor: answered, showMutatedRequest: false,
    plugins: [plugin], layout: 'PageLayout', syntaxHighlight: { theme: 'monokai' },
  });
});
