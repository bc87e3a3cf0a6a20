// What Swagger UI lacks for users of screen readers and keyboards. Its files stay as published: plugins change what
// they can, and the rest is added after each drawing. Colours are in reference.css.

// plugin gives the page a layout: Swagger UI's own without a second <main>, because the page has one. And a link inside
// the button that opens an operation becomes text: the button itself sets the address.
export const plugin = ({ React: { createElement: h } }) => ({
  components: {
    PageLayout: ({ getComponent, specSelectors }) => {
      const [Row, Col, Icons] = ['Row', 'Col', 'SvgAssets'].map(name => getComponent(name));
      const row = (name, className) => h(Row, { className }, h(Col, { mobile: 12, desktop: 12 }, h(getComponent(name, true))));
      return h('div', { className: 'swagger-ui' }, h(Icons), h(getComponent('errors', true)),
        row('InfoContainer', 'information-container'), row('operations'), specSelectors.isOAS31() && row('Webhooks', 'webhooks-container'), row('Models'));
    },
  },
  wrapComponents: { DeepLink: Link => given => Array.isArray(given.text) ? h('span', {}, given.text) : h(Link, given) },
});

// Tags and schemas are below the title, operations below them: no heading level is skipped.
const levels = { H3: '2', H4: '3', H5: '4' };

function name(field) {
  const row = field.closest('tr[data-param-name]')?.dataset.paramName, box = field.closest('.content-type-wrapper, .examples-select, .response-control-media-type');
  if (row) return row;
  return box?.classList.contains('examples-select') || field.classList.contains('examples-select-element') ? 'Example' : 'Media type';
}

function mend(root) {
  for (const heading of root.querySelectorAll('h3, h4, h5')) {
    if (!heading.hasAttribute('aria-level') && !heading.closest('.renderedMarkdown')) heading.setAttribute('aria-level', levels[heading.tagName]);
  }
  for (const field of root.querySelectorAll('select, textarea, input')) {
    if (!field.labels?.length && !field.hasAttribute('aria-label')) field.setAttribute('aria-label', name(field));
  }
  for (const table of root.querySelectorAll('table[role=region]')) table.removeAttribute('role'); // it is a table like the others
  for (const block of root.querySelectorAll('pre, .model-box')) block.tabIndex = 0; // keyboard users can scroll it
}

export function keepAccessible(root) {
  new MutationObserver(() => mend(root)).observe(root, { childList: true, subtree: true });
}
