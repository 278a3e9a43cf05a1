/* Which clock the browser has: told when one logs in, offered on the account's page. */
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const hidden of document.querySelectorAll("[data-own-zone]")) hidden.value = zone;

  const offer = document.querySelector("[data-browser-zone]");
  const field = document.getElementById("timezone");
  if (!offer || !field || field.value === zone) return;
  offer.querySelector("strong").textContent = zone;
  offer.querySelector("button").addEventListener("click", () => {
    field.value = zone;
    field.focus();
  });
  offer.hidden = false;
})();
