/* Instants on the reader's own clock; without this they stand there in UTC. */
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const words = new Intl.DateTimeFormat("en-GB", {
    weekday: "short", day: "numeric", month: "short", year: "numeric",
    hour: "2-digit", minute: "2-digit",
  });
  for (const one of document.querySelectorAll("time[data-own-clock]")) {
    one.title = one.textContent;
    one.textContent = `${words.format(new Date(one.dateTime))} (${zone})`;
  }
})();
