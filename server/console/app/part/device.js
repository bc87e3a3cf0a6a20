// The devices that keep passkeys, as the browser reaches them.
import { t } from '../words.js'
import { own, proved, fact } from '../api.js'

// passkeysHere says whether this browser can use passkeys under this host name.
export const passkeysHere = () => fact('passkeys') === location.hostname && Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON)

// A browser's own message about a device that did not answer is for programmers.
const silent = (e) => (e.status === undefined ? new Error(t('passkey.silent')) : e)

// sign has a device sign the server's challenge, to sign in or to confirm.
export async function sign(path) {
  try {
    const { ask } = await own(path, {})
    const said = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(ask) }))
    return await own(path, { answer: said.toJSON() })
  } catch (e) {
    throw silent(e)
  }
}

// make has a device make a passkey for the signed-in user.
export async function make(name) {
  try {
    const { ask } = await proved('passkey/add', {})
    const made = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(ask) }))
    return await proved('passkey/add', { name, answer: made.toJSON() })
  } catch (e) {
    throw silent(e)
  }
}
