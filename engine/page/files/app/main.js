import './styles.js';
import { text } from './strings.js';
import { h } from './dom.js';
import * as server from './api.js';
import { possible } from './proof.js';
import { tidy } from './tidy.js';
import { App } from './app.js';

const root = document.getElementById('app');
let app = null;

// gate stands where the page would be, for who is not let in.
function gate(title, { detail, command }) {
  app?.close();
  app = null;
  root.replaceChildren(h('main', { className: 'gate' },
    h('img', { src: 'icon.svg', alt: '', width: 64, height: 64 }), h('h1', {}, title), h('p', {}, detail || text.howToPair),
    command !== false && h('code', {}, text.pairCommand),
    h('button', { type: 'button', className: 'primary', onclick: () => start() }, text.again)));
}

function enter(me) {
  const revoked = () => gate(me.session ? text.linkOver : text.revoked, { detail: text.howToPair, command: !me.session });
  app = new App(root, me, revoked);
  app.open();
}

// admit lets a browser in that brings a code or has a key. A code works once: a browser that is paired
// already needs none.
async function admit(code) {
  if (!code) return server.me();
  try {
    return await server.pair(code);
  } catch (err) {
    if (err instanceof server.Refused) return server.me().catch(() => { throw err; });
    throw err;
  }
}

// start lets a browser in. The code is in the fragment of the address, and is taken out at once.
async function start() {
  if (!possible) {
    gate(text.noKeys, { detail: text.howToSecure, command: false });
    return;
  }
  const code = location.hash.slice(1);
  if (code) history.replaceState(null, '', location.pathname);
  try {
    const me = await admit(code);
    const link = me.session ? `/link/${me.session}/` : '/';
    if (location.pathname === link) enter(me);
    else location.replace(link); // where its key is good
  } catch (err) {
    const known = err instanceof server.Refused;
    if (code && known) gate(text.badCode, { detail: `${err.message}. ${text.howToPair}` });
    else if (known && err.code === 'pair_again') gate(text.pairAgain, {});
    else if (known && err.status === 401) gate(text.notPaired, {});
    else if (err instanceof DOMException) gate(text.noKeys, { detail: text.howToKeep(err.message), command: false });
    else gate(text.serverAway, { detail: err.message, command: true });
  }
}

addEventListener('hashchange', () => {
  if (!/^#[A-Z2-7]{16}$/.test(location.hash)) return;
  app?.close();
  start();
});

tidy();
start();
