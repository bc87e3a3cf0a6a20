// What a campaign does, in words.
import { html } from '../ui.js'
import { t, number } from '../words.js'

const worded = {
  points: (e) => t('effect.points', { n: e.points ?? 0 }),
  multiply: (e) => t('effect.multiply', { factor: number(e.factor, 2) }),
  coupon: (e) => t('effect.coupon', { of: e.pool || e.coupon?.type || '' }),
  label: (e) => t('effect.label', { label: e.label }),
  tier: (e) => t('effect.tier', { tier: e.tier }),
  challenge: (e) => t('effect.challenge', { challenge: e.challenge }),
}
export const told = (effects = []) => effects.map((e) => worded[e.type]?.(e) ?? e.type).join(', ')

export const Effects = ({ of }) => html`<dl class="facts"><dt>${t('campaign.trigger')}</dt><dd><code>${of.trigger}</code></dd>${of.condition && html`<dt>${t('campaign.condition')}</dt><dd><code>${of.condition}</code></dd>`}<dt>${t('campaign.effects')}</dt><dd>${told(of.effects)}</dd></dl>`
