// Puts the page together: which place is open, and who one is.

import { listen } from "../api.js";
import { byId } from "../dom.js";
import { drawBot, drawPeople } from "../foot.js";
import { Room } from "./room.js";
import { drawChannels } from "./sidebar.js";
import { isThread, Store } from "./store.js";

const store = new Store();
const channelRoom = new Room(store, byId("channel"), { label: "Messages of the channel", composerId: "write", openThread });
const threadRoom = new Room(store, byId("thread"), { label: "Messages of the thread", composerId: "write-in-thread", openThread });
let openId = null;
let threadId = null;
let stopListening = () => {};

function draw() {
  drawChannels(store, openId, threadId, open);
}

function open(channel) {
  showSidebar(false);
  if (isThread(channel)) {
    if (channel.parent_id !== openId) openChannel(store.channels.get(channel.parent_id));
    openThread(channel.id);
  } else {
    openChannel(channel);
    write("write");
  }
}

function openChannel(channel) {
  openId = channel.id;
  closeThread();
  const title = store.title(channel);
  byId("channel-title").textContent = channel.type === 0 ? `# ${title}` : title;
  channelRoom.show(channel);
  draw();
}

function openThread(id) {
  const thread = store.channels.get(id);
  if (!thread) return;
  threadId = id;
  byId("thread-title").textContent = thread.name;
  byId("thread").hidden = false;
  document.body.classList.add("with-thread");
  threadRoom.show(thread);
  write("write-in-thread");
  draw();
}

function closeThread() {
  threadId = null;
  byId("thread").hidden = true;
  document.body.classList.remove("with-thread");
  draw();
}

/** Let one write at once, unless that would bring a keyboard onto the screen. */
function write(id) {
  if (!matchMedia("(max-width: 820px)").matches) byId(id).focus({ preventScroll: true });
}

function become(user) {
  stopListening();
  stopListening = listen(user, store, ["message", "gone", "channel"]);
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
  const thread = threadId;
  const first = [...store.channels.values()].find((channel) => channel.type === 0);
  openChannel(store.channels.get(openId) ?? first);
  if (store.channels.has(thread)) openThread(thread);
}

store.on("all", begin);
store.on("bot", async ({ state }) => {
  drawBot(store);
  if (state !== "ready" || !openId) return;
  await channelRoom.refreshCommands(openId);
  if (threadId) await threadRoom.refreshCommands(threadId);
});
store.on("channel", (channel) => {
  draw();
  if (channel.id === threadId) byId("thread-title").textContent = channel.name;
});
byId("close-thread").addEventListener("click", () => {
  closeThread();
  byId("write").focus();
});
byId("open-sidebar").addEventListener("click", () => showSidebar(true));
byId("close-sidebar").addEventListener("click", () => showSidebar(false));
byId("sidebar").addEventListener("keydown", (event) => event.key === "Escape" && showSidebar(false));

const { people } = await (await fetch("people")).json();
become(people[0].id);
