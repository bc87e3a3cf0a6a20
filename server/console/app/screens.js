// The screens, in the order of the menu. A new one: a file in screen/ that exports a component by default, a line here, and
// its words nav.NAME in the four files of words/. needs is the operation without which it is not shown.
export const screens = [
  { path: '', name: 'today', file: 'today', needs: 'getLedger', key: 't' },
  { path: 'customers', name: 'customers', file: 'customers', needs: 'listCustomers', key: 'c' },
  { path: 'customer', name: 'customer', file: 'customer', needs: 'getCustomer', hidden: true },
  { path: 'stream', name: 'stream', file: 'stream', needs: 'followEvents', key: 's' },
  { path: 'tester', name: 'tester', file: 'tester', needs: 'previewEvent', key: 'e' },
  { path: 'programme', name: 'programme', file: 'programme', needs: 'listEntities', key: 'p' },
  { path: 'entity', name: 'entity', file: 'entity', needs: 'getEntity', hidden: true },
  { path: 'campaigns', name: 'campaigns', file: 'campaigns', needs: 'listCampaigns' },
  { path: 'rewards', name: 'rewards', file: 'rewards', needs: 'listRewards' },
  { path: 'levels', name: 'levels', file: 'levels', needs: 'listLevels' },
  { path: 'statistics', name: 'statistics', file: 'statistics', needs: 'getStatistics' },
  { path: 'ledger', name: 'ledger', file: 'ledger', needs: 'getLedger' },
  { path: 'webhooks', name: 'webhooks', file: 'webhooks', needs: 'listWebhooks' },
  { path: 'configuration', name: 'configuration', file: 'configuration', needs: 'getConfiguration' },
  { path: 'administration', name: 'administration', file: 'administration', needs: 'listModules' },
  { path: 'self', name: 'self', file: 'self', hidden: true },
]

export const screenOf = (place) => screens.find((s) => s.path === (place.parts[0] || '')) || { name: 'nothing', file: 'nothing' }
