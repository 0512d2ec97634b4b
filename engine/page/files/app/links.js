const address = /https?:\/\/[^\s"'<>`│]+[^\s"'<>`│.,;:!?)\]}]/g;

// links are addresses in what a terminal shows.
export const links = {
  open(uri) {
    if (/^https?:\/\//i.test(uri)) window.open(uri, '_blank', 'noopener,noreferrer');
  },

  provider(term) {
    return {
      provideLinks(y, callback) {
        const buffer = term.buffer.active;
        let from = y - 1;
        while (from > 0 && buffer.getLine(from)?.isWrapped) from--;
        let line = '';
        for (let row = from; row === from || buffer.getLine(row)?.isWrapped; row++) line += buffer.getLine(row)?.translateToString(false) || '';
        const found = [...line.matchAll(address)].map((m) => ({
          text: m[0], range: { start: place(m.index), end: place(m.index + m[0].length - 1) }, activate: (_, uri) => links.open(uri),
        }));
        callback(found.filter((l) => l.range.start.y <= y && y <= l.range.end.y));

        function place(i) { return { x: i % term.cols + 1, y: from + Math.floor(i / term.cols) + 1 }; }
      },
    };
  },
};
