// The ledger: the outstanding points and when they expire, and the proof that every point adds up.
import { html, useState } from '../ui.js'
import { t, number, money, month } from '../words.js'
import { get, can } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure, Loading, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge, Card } from '../part/figures.js'
import { Chart } from '../part/chart.js'
import { Shares } from '../part/shares.js'
import { Metric } from '../part/metric.js'
import { Proofs } from '../part/proofs.js'
import { Since } from '../part/when.js'

const figures = ['earned', 'spent', 'expired', 'reserved', 'pending', 'debt', 'outstanding']

export default function Ledger({ place }) {
  const ledger = useLoad(() => get('/admin/ledger'))
  const [proof, setProof] = useState({})
  const prove = async () => {
    setProof({ loading: true })
    try {
      setProof({ data: (await get('/admin/ledger', { verify: 'true' })).data })
    } catch (error) {
      setProof({ error })
    }
  }
  const columns = (value) => [
    { key: 'month', label: t('ledger.month'), cell: (m) => (m.month ? month(m.month) : t('never')) },
    { key: 'points', label: t('points'), right: true, cell: (m) => number(m.points) },
    ...(value ? [{ key: 'value', label: t('ledger.value'), right: true, cell: (m) => money(m.points * value.point, value.currency), text: (m) => m.points * value.point }] : []),
    { key: 'lots', label: t('ledger.lots'), right: true, cell: (m) => number(m.lots) },
  ]
  return html`<${Title} text=${t('nav.ledger')}><button class="primary" onClick=${prove} disabled=${proof.loading}>${t('ledger.prove')}</button></${Title}>
    ${proof.loading && html`<${Loading} />`}${proof.error && html`<${Failure} error=${proof.error} again=${prove} />`}
    ${proof.data && html`<${Proof} proof=${proof.data} />`}
    <${Loaded} of=${ledger}>${({ data }) => html`
      <div class="cards">${figures.map((f) => html`<${Card} label=${t('points.' + f)} value=${number(data.totals[f])} />`)}${data.value && html`<${Card} label=${t('ledger.value')} value=${money(data.value.outstanding, data.value.currency)} note=${t('ledger.point', { sum: money(data.value.point, data.value.currency, 4) })} />`}</div>
      <h2>${t('ledger.liability')}</h2>
      ${data.months.some((m) => m.month) && html`<div class="panel"><${Chart} title=${t('today.expires')} kind="stack" series=${data.origins.map((o) => ({ label: t('origin.' + o.origin) }))}
        rows=${data.months.filter((m) => m.month).map((m) => ({ at: Date.parse(m.month + '-01T00:00:00Z') / 1000, label: m.month, values: data.origins.map(({ origin }) => m.origins.find((o) => o.origin === origin)?.points ?? 0) }))} /></div>`}
      <${Table} answer=${{ data: data.months }} columns=${columns(data.value)} name="liability" links=${false} empty=${html`<${Empty} text=${t('today.nothing')} />`} />
      <h2>${t('ledger.origins')}</h2>
      <${Shares} first=${t('ledger.origin')} name="origins" rows=${data.origins.map((o) => ({ ...o, name: t('origin.' + o.origin) }))} />
      ${can('getStatistics') && html`<${Metric} metric="points_expired" title=${t('ledger.expired')} />`}
      <p class="small"><${Since} at=${data.at} say=${(at) => t('ledger.at', { at })} /></p>`}</${Loaded}>
    ${can('listLedgerProofs') && html`<${Proofs} place=${place} made=${proof.data} />`}`
}

function Proof({ proof }) {
  const broken = proof.invariants.filter((i) => i.verdict !== 'held')
  return html`<section aria-live="polite"><h2>${broken.length ? t('ledger.broken', { n: broken.length }) : t('ledger.held', { n: proof.invariants.length })}</h2>
    <div class="rules">${proof.invariants.map((i) => html`<div class=${'rule ' + (i.verdict === 'held' ? 'applied' : 'refused')}>
      <header><span><code>${i.id}</code> ${i.title}</span><${Badge} state=${i.verdict} /></header>
      ${i.findings.map((f) => html`<p class="small"><code>${f.customer || ''}</code> ${f.detail}</p>`)}</div>`)}</div></section>`
}
