/* Fits new markup into what is shown: only what differs is touched, so that focus,
   scrolled boxes, marked text, ticked rows and opened panels stay as the reader left them. */
(() => {
  if (!window.htmx) return;
  const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE && node.id) || null;

  function fitAttributes(shown, fresh) {
    /* What the reader opened or closed is theirs. */
    const isTheirs = (name) => name === "open" && shown.matches("details");
    for (const { name } of [...shown.attributes]) {
      if (!fresh.hasAttribute(name) && !isTheirs(name)) shown.removeAttribute(name);
    }
    for (const { name, value } of [...fresh.attributes]) {
      if (shown.getAttribute(name) !== value && !isTheirs(name)) shown.setAttribute(name, value);
    }
  }

  function fitChildren(shown, fresh) {
    const present = new Map();
    for (const node of shown.childNodes) if (keyOf(node)) present.set(keyOf(node), node);
    const wanted = new Set([...fresh.childNodes].map(keyOf).filter(Boolean));
    let at = shown.firstChild;
    const isGone = (node) => keyOf(node) && !wanted.has(keyOf(node));
    for (const node of [...fresh.childNodes]) {
      while (at && isGone(at)) {
        const gone = at;
        at = at.nextSibling;
        gone.remove();
      }
      const same = keyOf(node) ? present.get(keyOf(node)) : at && !keyOf(at) && at.nodeName === node.nodeName ? at : null;
      if (!same) {
        shown.insertBefore(node, at);
      } else {
        if (same === at) at = at.nextSibling;
        else shown.insertBefore(same, at);
        fit(same, node);
      }
    }
    while (at) {
      const rest = at;
      at = at.nextSibling;
      rest.remove();
    }
  }

  /* Make `shown` look like `fresh`; return the node that is shown then. */
  function fit(shown, fresh) {
    if (shown.isEqualNode(fresh)) return shown;
    if (shown.nodeName !== fresh.nodeName || keyOf(shown) !== keyOf(fresh)) {
      shown.replaceWith(fresh);
      return fresh;
    }
    if (shown.nodeType !== Node.ELEMENT_NODE) {
      shown.nodeValue = fresh.nodeValue;
      return shown;
    }
    fitAttributes(shown, fresh);
    fitChildren(shown, fresh);
    return shown;
  }

  const firstElement = (fragment) => [...fragment.childNodes].find((node) => node.nodeType === Node.ELEMENT_NODE);

  htmx.defineExtension("calm", {
    isInlineSwap: (style) => style === "calm",
    handleSwap(style, target, fragment) {
      const fresh = firstElement(fragment);
      return style === "calm" && fresh ? [fit(target, fresh)] : false;
    },
  });

  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const fresh = firstElement(event.detail.fragment);
    if (!fresh || fresh.id !== event.detail.target.id) return;
    event.detail.shouldSwap = false;
    htmx.process(fit(event.detail.target, fresh));
  });
})();
