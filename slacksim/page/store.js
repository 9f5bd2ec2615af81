// What the server says that one person sees, and what this person does.

export const store = { now: null, me: localStorage.getItem("me") ?? "", onchange: () => {}, onlost: () => {} };
let source = null;

// Without a person that is known here the server takes the first one.
export async function begin() {
  if (store.me && !(await fetch(`state?as=${encodeURIComponent(store.me)}`)).ok) store.me = "";
  listen();
}

export function actAs(user) {
  store.me = user;
  localStorage.setItem("me", user);
  listen();
}

function listen() {
  source?.close();
  source = new EventSource(`stream?as=${encodeURIComponent(store.me)}`);
  source.onmessage = (event) => {
    store.now = JSON.parse(event.data);
    store.me = store.now.me;
    store.onchange();
  };
  source.onerror = () => store.onlost();
}

export async function act(what, fields = {}) {
  const answer = await fetch("do", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ do: what, user: store.me, ...fields }),
  });
  const body = await answer.json();
  if (!body.ok) throw new Error(body.error);
  return body.result;
}

export const member = (id) =>
  store.now.members.find((one) => one.id === id) ?? { id, name: id, real_name: id, is_bot: false };
// Direct messages, of two people or a few, are called by who is in them, and by no name of their own.
export const isDirect = (one) => one.is_im || one.is_mpim;
export const called = (one) => (isDirect(one) ? one.name : `# ${one.name}`);
export const channel = (id) => store.now.channels.find((one) => one.id === id);
export const message = (place, ts) => store.now.messages.find((one) => one.channel === place && one.ts === ts);
export const fileUrl = (file) => new URL(file.address).pathname;

// Links to messages of this workspace: [channel, ts] or null.
export function permalink(url) {
  const start = `${store.now.workspace.base}/archives/`;
  const found = url.startsWith(start) && url.slice(start.length).match(/^([A-Z0-9]+)\/p(\d+)(\d{6})/);
  return found ? [found[1], `${found[2]}.${found[3]}`] : null;
}
