// What the checker has to refuse: a line here that it lets pass is an error.
import { get, post } from '../app/api.js'

// @ts-expect-error there is no such operation
get('/nothing/here')
// @ts-expect-error it is read, not written
post('/admin/me', {})
// @ts-expect-error a parameter that the operation does not know
get('/customers', { serch: 'a' })
// @ts-expect-error a property that the body does not have
post('/admin/keys', { lable: 'Till' })
// @ts-expect-error what is needed is missing
post('/admin/users', { login: 'sample.editor' })
// @ts-expect-error an answer has no such property
get('/admin/me').then((a) => a.data.nickname)
get('/customers/member-1001/points').then((a) => a.data.spendable.toFixed())
// @ts-expect-error a number is no text
get(`/customers/${encodeURIComponent('member-1001')}/points`).then((a) => a.data.spendable.trim())
