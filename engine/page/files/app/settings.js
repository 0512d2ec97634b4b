// Settings of this browser.
const name = 'tandem';

function read() {
  try {
    return JSON.parse(localStorage.getItem(name)) || {};
  } catch {
    return {};
  }
}

const kept = read();

function keep(changed) {
  Object.assign(kept, changed);
  try {
    localStorage.setItem(name, JSON.stringify(kept));
  } catch { /* private windows keep nothing */ }
}

export const settings = {
  get screenReader() { return Boolean(kept.screenReader); },
  set screenReader(on) { keep({ screenReader: on }); },
  get fontSize() { return kept.fontSize || 13; },
  set fontSize(size) { keep({ fontSize: Math.min(24, Math.max(8, size)) }); },
};
