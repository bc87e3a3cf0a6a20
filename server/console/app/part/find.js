// Finds what the user has at hand: the name of a screen, a customer's id, e-mail address or id in another system, a
// coupon's code.
import { t } from '../words.js'
import { get, can, id, me } from '../api.js'
import { screens } from '../screens.js'

const customer = (one) => '/customer/' + id(one.id)

// exact are the customers that a text identifies: by their e-mail address, else by an id. Finding none is no error.
async function exact(text) {
  if (!can('listCustomers')) return null
  if (text.includes('@')) {
    const { data } = await get('/customers', { email: text, limit: 2 })
    if (data.length === 1) return customer(data[0])
  }
  const { data } = await get('/customers', { id: text, limit: 1 })
  return data.length ? customer(data[0]) : null
}

// coupon finds a coupon by its code, in any letter case.
async function coupon(text) {
  if (!can('getCoupon') || /[\s,@]/.test(text)) return null
  const { data } = await get('/coupons', { 'code.eq': text, limit: 1 }).catch(() => ({ data: [] })) // coupons may be switched off
  return data.length ? '/rewards?tab=coupons&code=' + id(data[0].code) : null
}

const isID = (text) => /[\d@:]/.test(text) && !/\s/.test(text)

// find returns the place of a text's target, else the list of customers whose names begin with it, if the user may see
// names.
export async function find(text) {
  const wanted = text.trim()
  const screen = screens.find((s) => !s.hidden && t('nav.' + s.name).toLowerCase() === wanted.toLowerCase())
  if (screen) return '/' + screen.path
  const names = '/customers?search=' + id(wanted)
  if (!isID(wanted) && me.now.personal && can('listCustomers') && (await get('/customers', { search: wanted, limit: 1 })).data.length) return names
  return (await coupon(wanted)) || (await exact(wanted)) || names
}
