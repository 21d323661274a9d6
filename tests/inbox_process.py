"""A bot with an inbox in a process of its own, which ends itself where it is told to.

python -m tests.inbox_process DATABASE_URL PLATFORM_PORT LEASE [STEP [SIGNAL]]
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta

from adapters.chat.delivery.janitor import Janitor
from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from tests.inbox import ScriptedAgent, inbox_of, worker_of
from tests.platform import PlatformAdapter, calling


async def main(url: str, port: str, lease: str, step: str = "", number: str = "9") -> None:
    def reached(name: str) -> None:
        nonlocal step
        if name == step:
            step = ""
            os.kill(os.getpid(), int(number))

    engine = create_engine(url)
    inbox = inbox_of(engine, healed_after=timedelta(seconds=float(lease)))
    agent = ScriptedAgent(SessionStore(engine))
    adapter = PlatformAdapter(calling(int(port)))
    worker = worker_of(inbox, agent, adapter, lease=float(lease), reached=reached)
    janitor = Janitor(
        inbox=inbox, adapters={"test": adapter}, every=0.1, lease=float(lease), reached=reached
    )
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    sweeping = asyncio.create_task(janitor.run())
    working = asyncio.create_task(worker.run())
    await stopping.wait()
    await worker.drain(5)
    sweeping.cancel()
    await asyncio.wait({working, sweeping})
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
