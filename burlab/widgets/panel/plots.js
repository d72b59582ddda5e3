// Plotly's figure widget. Its script has five megabytes: it comes from the kernel once per page, not with every widget.

const PLACE = "burlabFigureScript"; // what the panels of a page share

// Ask Python, and hear the answer: `then` is called at once, before anything that Python says later.
function ask(model, what, then) {
  const hear = (message, buffers) => {
    if (message.type !== what) return;
    model.off("msg:custom", hear);
    then(buffers[0]);
  };
  model.on("msg:custom", hear);
  model.send({ type: what });
}

async function unpacked(packed) {
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return (await import(address)).default;
  } finally {
    URL.revokeObjectURL(address);
  }
}

async function made(model) {
  globalThis[PLACE] ??= new Promise((done, fail) => {
    ask(model, "script", (packed) => unpacked(packed).then(done, fail));
  });
  const make = await globalThis[PLACE];
  // The figure may have changed since the page got its state, and nobody was there to see it.
  return new Promise((done) => {
    ask(model, "state", () => {
      const figure = make();
      figure.initialize({ model });
      done(figure);
    });
  });
}

// All in `render`: while a widget is initialized, JupyterLab takes in no further message.
export default () => {
  let figure;
  return {
    async render(view) {
      figure ??= made(view.model);
      return (await figure).render(view);
    },
  };
};
