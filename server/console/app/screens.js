// The screens, in the order of the menu. A new one needs a file in screen/ that exports a component by default, a line
// here, and its words nav.NAME in the four files of words/. needs is the operation without which it is hidden; group is
// its part of the menu; key opens it after g; make is the target of n.
/** @type {{ path?: string, name: string, file: string, group?: string, needs?: string, key?: string, at?: string, hidden?: boolean, make?: string }[]} */
export const screens = [
  { path: '', name: 'today', file: 'today', group: 'watch', needs: 'getLedger', key: 't' },
  { path: 'statistics', name: 'statistics', file: 'statistics', group: 'watch', needs: 'getStatistics' },
  { path: 'stream', name: 'stream', file: 'stream', group: 'watch', needs: 'followEvents', key: 's' },
  { path: 'customers', name: 'customers', file: 'customers', group: 'people', needs: 'listCustomers', key: 'c' },
  { path: 'levels', name: 'levels', file: 'levels', group: 'people', needs: 'listLevels' },
  { path: 'customer', name: 'customer', file: 'customer', at: 'customers', needs: 'getCustomer', hidden: true },
  { path: 'programme', name: 'programme', file: 'programme', group: 'build', needs: 'listEntities', key: 'p' },
  { path: 'rewards', name: 'rewards', file: 'rewards', group: 'build', needs: 'listRewards', make: 'rewards/reward' },
  { path: 'campaigns', name: 'campaigns', file: 'campaigns', group: 'build', needs: 'listCampaigns', make: 'automation/campaign' },
  { path: 'tester', name: 'tester', file: 'tester', group: 'build', needs: 'previewEvent', key: 'e' },
  { path: 'entity', name: 'entity', file: 'entity', at: 'programme', needs: 'getEntity', hidden: true },
  { path: 'ledger', name: 'ledger', file: 'ledger', group: 'run', needs: 'getLedger' },
  { path: 'webhooks', name: 'webhooks', file: 'webhooks', group: 'run', needs: 'listWebhooks' },
  { path: 'configuration', name: 'configuration', file: 'configuration', group: 'run', needs: 'getConfiguration' },
  { path: 'administration', name: 'administration', file: 'administration', group: 'run', needs: 'listModules' },
  { path: 'self', name: 'self', file: 'self', hidden: true },
]

export const groups = ['watch', 'people', 'build', 'run']

export const screenOf = (place) => screens.find((s) => s.path === (place.parts[0] || '')) || { name: 'nothing', file: 'nothing' }
