// The key of this browser. It is made when the browser is paired and kept for this origin, port
// included. The browser signs with it and gives it to nobody, this page included.

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
const scheme = 'tandem page 1'; // as proof.go has it

// possible says whether the browser has keys here: in secure contexts only.
export const possible = Boolean(globalThis.crypto?.subtle && globalThis.indexedDB);

// link is the session of a link to one; keys are kept for each.
export const link = location.pathname.match(/^\/link\/([^/]+)\//)?.[1] || '';

function result(request) {
  return new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}

async function keys(mode, use) {
  const opening = indexedDB.open('tandem'); // any version: another server at this origin may have raised it
  opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
  const db = await result(opening);
  if (!db.objectStoreNames.contains('keys')) { // or deleted its stores
    db.close();
    await result(indexedDB.deleteDatabase('tandem'));
    return keys(mode, use);
  }
  try {
    return await result(use(db.transaction('keys', mode).objectStore('keys')));
  } finally {
    db.close();
  }
}

const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));

// make makes a key. Its public part can be told, and keep stores it once the server knows that.
export async function make() {
  const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  return { key: pair.privateKey, told: base64(await crypto.subtle.exportKey('raw', pair.publicKey)) };
}

export const keep = (session, device, key) => keys('readwrite', (all) => all.put({ device, key }, session));
export const kept = () => keys('readonly', (all) => all.get(link));
export const forget = () => keys('readwrite', (all) => all.delete(link));

// sign signs a nonce for where the browser says that this page is from.
export async function sign({ device, key }, nonce) {
  const text = new TextEncoder().encode([scheme, location.origin, device, nonce].join('\n'));
  return base64(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, text));
}
