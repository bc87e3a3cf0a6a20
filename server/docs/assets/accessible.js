// What Swagger UI leaves out for people who hear the page or have no mouse. Its files stay as they are published: its plugins change
// what they can, and the rest is added to what it has drawn, each time it draws. Colours are in reference.css.

// plugin gives the page a layout: Swagger UI's own without a second <main>, because the page has one. And a link inside the button that opens an operation
// is a text there: the button itself sets the address.
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

// Below the title come tags and schemas, below these what an operation has: no level is left out.
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
  for (const table of root.querySelectorAll('table[role=region]')) table.removeAttribute('role'); // it is a table, and one of many
  for (const block of root.querySelectorAll('pre, .model-box')) block.tabIndex = 0; // what can be scrolled can be scrolled by keys
}

export function keepAccessible(root) {
  new MutationObserver(() => mend(root)).observe(root, { childList: true, subtree: true });
}
