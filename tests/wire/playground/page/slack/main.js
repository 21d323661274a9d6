// Puts the page together: which place is open, and who one is.

import { act, listen } from "../api.js";
import { byId } from "../dom.js";
import { drawBot, drawPeople } from "../foot.js";
import { escaped } from "../markdown/slack.js";
import { introduction } from "./intro.js";
import { Room } from "./room.js";
import { drawChannels } from "./sidebar.js";
import { Store, threadPlace } from "./store.js";
import { drawHome, drawModal } from "./view.js";

const HOME = "home";
const PERMALINK = /\/archives\/(\w+)\/p(\d+)(\d{6})(?:\?thread_ts=([\d.]+))?/;
const store = new Store();
const channelRoom = new Room(store, byId("channel"), { label: "Messages of the channel", composerId: "write", openThread: (message) => openThread(message.channel_id, message.id) });
const threadRoom = new Room(store, byId("thread"), { label: "Messages of the thread", composerId: "write-in-thread" });
const current = { channel: null, thread: null };
let lastChannel = null;
let stopListening = () => {};

const open = {
  channel: (channel) => {
    showSidebar(false);
    openChannel(channel);
    write("write");
  },
  home: () => {
    showSidebar(false);
    openHome();
  },
};

/** What the cards at the top of a place do. */
const trying = {
  write: (text) => channelRoom.composer.write(text),
  menu: (id) => channelRoom.openMenu(id),
  say: (text) => act("say", { user: store.me, channel: current.channel, text: escaped(text) }),
};

function draw() {
  drawChannels(store, current, open);
}

function openChannel(channel) {
  current.channel = channel.id;
  if (channel.direct) act("messages", { user: store.me, channel: lastChannel });
  else lastChannel = channel.id;
  atHome(false);
  closeThread();
  byId("channel-title").textContent = store.title(channel);
  channelRoom.show(channel, null, introduction(channel, store, trying));
  draw();
}

function openHome() {
  current.channel = HOME;
  closeThread();
  atHome(true);
  byId("channel-title").textContent = `${store.person(store.botId).name} · Home`;
  drawHome(store);
  act("home", { user: store.me });
}

function atHome(is) {
  byId("home").hidden = !is;
  byId("channel").classList.toggle("at-home", is);
}

function openThread(channelId, ts) {
  current.thread = threadPlace(channelId, ts);
  byId("thread").hidden = false;
  document.body.classList.add("with-thread");
  threadRoom.show(store.channels.get(channelId), ts);
  headThread(channelId);
  write("write-in-thread");
  draw();
}

/** Show the title that the app gave a thread, or where the thread stands. */
function headThread(channelId) {
  const { title } = store.sessions.get(current.thread) ?? {};
  byId("thread-title").textContent = title ?? store.title(store.channels.get(channelId));
}

function closeThread() {
  current.thread = null;
  byId("thread").hidden = true;
  document.body.classList.remove("with-thread");
  draw();
}

/** Open what a link to a message of the workspace leads to; it stands nowhere but here. */
function followLink(event) {
  const link = PERMALINK.exec(event.target.closest?.("a")?.href ?? "");
  if (!link || !store.channels.has(link[1])) return;
  event.preventDefault();
  openThread(link[1], link[4] ?? `${link[2]}.${link[3]}`);
}

/** Let one write at once, unless that would bring a keyboard onto the screen. */
function write(id) {
  if (!matchMedia("(max-width: 820px)").matches) byId(id).focus({ preventScroll: true });
}

function become(user) {
  stopListening();
  stopListening = listen(user, store, ["message", "gone", "modal", "home", "session", "prompts"]);
}

function showSidebar(shown) {
  document.body.classList.toggle("with-sidebar", shown);
  byId("open-sidebar").setAttribute("aria-expanded", String(shown));
  if (shown) byId("close-sidebar").focus();
}

/** After everything was sent anew: stay where one was, or begin in the first channel. */
function begin() {
  byId("server-name").textContent = store.server;
  drawPeople(store, become);
  drawBot(store);
  drawModal(store);
  const [channel, ts] = current.thread?.split(":") ?? [];
  const first = [...store.channels.values()].find((each) => !each.direct);
  if (current.channel === HOME) openHome();
  else openChannel(store.channels.get(current.channel) ?? first);
  if (store.messages.has(ts) && store.channels.has(channel)) openThread(channel, ts);
}

store.on("all", begin);
store.on("bot", () => drawBot(store));
store.on("modal", () => drawModal(store));
store.on("home", () => current.channel === HOME && drawHome(store));
store.on("session", ({ channel, thread }) => threadPlace(channel, thread) === current.thread && headThread(channel));
store.on("prompts", () => {
  const channel = store.channels.get(current.channel);
  if (channel?.direct) channelRoom.introduce(introduction(channel, store, trying));
});
document.addEventListener("click", followLink);
byId("close-thread").addEventListener("click", () => {
  closeThread();
  byId("write").focus();
});
byId("open-sidebar").addEventListener("click", () => showSidebar(true));
byId("close-sidebar").addEventListener("click", () => showSidebar(false));
byId("sidebar").addEventListener("keydown", (event) => event.key === "Escape" && showSidebar(false));

const { people } = await (await fetch("people")).json();
become(people[0].id);
