"""What the kernel refuses a process, and all that it starts, for the rest of its life.

Landlock holds its files and TCP ports, a seccomp filter its calls. Both are spoken to directly: no
package for them has wheels for all systems that we install on, and this is the whole of it. The
module imports nothing of ours, because it also runs by itself, to start a program (`launch`).
"""

import errno
import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_OLDEST_WITH_PORTS, _OLDEST_WITH_SCOPES = 4, 6
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEV = 1, 2, 4, 8, 1 << 14, 1 << 15
_READ = _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL_DEV}
"""What each version of Landlock's interface came to know of files."""
_BIND_AND_CONNECT, _CONNECT = 3, 2
_SIGNALS_AND_ABSTRACT_SOCKETS = 3
_BENEATH_A_PATH, _A_PORT = 1, 2
_LACKING = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)
"""How a kernel says that it has no Landlock, that it is switched off, or that a container forbids
it; anything else is a fault of ours."""

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_X32 = 0x40000000
_THREAD, _NAMESPACES = 0x10000, 0x7E020000
"""Of clone: a thread of this process; any namespace of its own, that of its users above all."""
_PUSH_INTO_TERMINAL = 0x5412
_FAMILIES = (1, 2, 10)
"""Of sockets: local ones, IPv4 and IPv6."""

_NEVER = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
}
"""The calls that nothing of ours needs, by their numbers on each machine."""
_STARTING = {"execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None)}
_SIGNALLING = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131)}
_QUEUING = {"rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240)}
_CLONE, _CLONE3, _SOCKET, _PRLIMIT, _IOCTL = (56, 220), 435, (41, 198), (302, 261), (16, 29)

SYSTEM = (
    *("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/lib", "/lib64"),
    *("/usr/share", "/usr/local/share", "/nix/store", "/gnu/store", "/etc/ld.so.cache"),
    *("/etc/ld.so.preload", "/etc/localtime", "/etc/fonts", "/etc/alternatives"),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
)
"""What programs and their libraries read: a system's packages, none of which holds a secret."""
_COMMANDS = ("/bin", "/usr/bin", "/usr/local/bin", "/lib", "/lib64", "/usr/lib", "/usr/lib64")
_NOWHERE = "/dev/null"


class Confinement(NamedTuple):
    """What a process may still do; whatever is not there is left out."""

    read: Sequence[str] = ()
    """Files and folders."""
    execute: Sequence[str] = ()
    """Files and folders whose programs may be started; they may be read, too."""
    write: Sequence[str] = ()
    """Folders in which files may be made, changed and deleted, too."""
    port: int = 0
    """The only TCP port that may be connected to; 0: no network at all."""
    is_alone: bool = False
    """Whether it starts no process and signals none; else those that it starts are held as well."""


class Held(NamedTuple):
    """What the kernel was seen to refuse."""

    files: bool = False
    network: bool = False
    calls: bool = False
    """To look into other processes, to use keys, to mount, to become another user, and the like."""


def confine(allowed: Confinement) -> None:
    """Have the kernel refuse this process all but what is allowed, as far as it can.

    Raises:
        OSError: when it can and does not.
    """
    if sys.platform != "linux":
        return
    call = _system_call()
    _checked(call.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _restrict_files(call.syscall, allowed)
    _restrict_calls(call, allowed)


def tried() -> Held:
    """Return what the kernel refuses a process that may use no network, by trying it."""
    if sys.platform != "linux":
        return Held()
    import ctypes

    call = _system_call()
    try:
        os.close(os.open("/", os.O_RDONLY))
        files = False
    except PermissionError:
        files = True
    unshares = _by_machine(_NEVER["unshare"])
    calls = unshares is not None and call.syscall(unshares, 0) != 0
    stream = call.socket(2, 1, 0)
    if stream < 0:
        return Held(files, True, calls)
    try:
        address = struct.pack("=H", 2) + struct.pack(">H", 9) + bytes((127, 0, 0, 1)) + bytes(8)
        refused = call.connect(stream, address, len(address)) != 0
        return Held(files, refused and ctypes.get_errno() == errno.EACCES, calls)
    finally:
        os.close(stream)


def of_program(path: str, *, more: Iterable[str] = (), port: int = 0) -> Confinement:
    """Return what a program may do that gets its input and gives its output through pipes.

    It may read itself and its system's packages, start nothing else, and write nothing. A program
    that is a script may start those of the system.

    Args:
        more: folders that it may read as well.
        port: the only one that it may reach; 0: none.
    """
    real = os.path.realpath(path)
    beside = os.path.dirname(os.path.dirname(real))
    own = [os.path.join(beside, name) for name in ("lib", "lib64", "libexec", "share")]
    libraries = [each for each in os.environ.get("LD_LIBRARY_PATH", "").split(":") if each]
    read = (*SYSTEM, *own, *libraries, *more)
    return Confinement(read=read, execute=(real, *_started_with(real)), port=port)


def launcher(allowed: Confinement, limits: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """Return the beginning of a command: what starts the program after it, confined and limited.

    Args:
        limits: by the names that `setrlimit` has for them.
    """
    folder, name = os.path.split(os.path.splitext(os.path.abspath(__file__))[0])
    code = f"import sys; sys.path.append({folder!r}); import {name}; {name}.launch(sys.argv[1:])"
    return (sys.executable, "-I", "-S", "-c", code, repr((tuple(allowed), tuple(limits))))


def launch(command: Sequence[str]) -> None:
    """Become a program under limits; the first of the words says which, as `launcher` wrote it."""
    import ast
    import resource

    allowed, limits = ast.literal_eval(command[0])
    for kind, wanted in limits:
        most = resource.getrlimit(getattr(resource, f"RLIMIT_{kind}"))[1]
        value = wanted if most < 0 else min(wanted, most)
        if kind != "AS" or sys.platform == "linux":
            resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (value, value))
    confine(Confinement(*allowed))
    os.execv(command[1], list(command[1:]))


def python_folders(package: Iterable[str]) -> tuple[str, ...]:
    """Return what a Python process reads to import what it can, and our package.

    A folder of modules that is no folder of installed packages may be somebody's working folder,
    with anything in it: of that one, the modules alone.
    """
    standard = os.path.dirname(os.__file__)
    whole = [standard, os.path.join(sys.base_prefix, "lib"), *package]
    for entry in filter(None, sys.path):
        is_installed = os.path.basename(entry) in ("site-packages", "dist-packages", "lib-dynload")
        if is_installed or entry.endswith(".zip") or entry == standard:
            whole.append(entry)
        else:
            whole += _modules_in(entry)
    libraries = [each for each in os.environ.get("LD_LIBRARY_PATH", "").split(":") if each]
    return (*SYSTEM, *libraries, *whole)


def _modules_in(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        is_module = entry.name.endswith((".py", ".so"))
        if is_module or os.path.exists(os.path.join(entry.path, "__init__.py")):
            yield entry.path


def _started_with(program: str) -> Sequence[str]:
    """Return what the kernel starts along with a program: its loader, or what runs a script."""
    try:
        with open(program, "rb") as file:
            head = file.read(64)
            if head[:2] == b"#!":
                return _COMMANDS
            if head[:6] != b"\x7fELF\2\1":
                return ()
            start, size, count = struct.unpack_from("<Q", head, 32)[0], *head[54:57:2]
            file.seek(start)
            table = file.read(size * count)
            for at in range(0, len(table), size):
                kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", table, at)
                if kind == 3:
                    file.seek(offset)
                    return (os.path.realpath(file.read(length).rstrip(b"\0").decode()),)
    except (OSError, ValueError, struct.error):
        pass
    return ()


def _system_call() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        import ctypes

        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _restrict_files(syscall: Callable[..., int], allowed: Confinement) -> None:
    """Have Landlock allow the files and the port; nothing where the kernel has none."""
    try:
        version = _checked(syscall(_CREATE_RULESET, None, 0, 1))
    except OSError as error:
        if error.errno in _LACKING:
            return
        raise
    handled = sum(rights for since, rights in _RIGHTS_BY_VERSION.items() if since <= version)
    ports = _BIND_AND_CONNECT if version >= _OLDEST_WITH_PORTS else 0
    wanted = [handled]
    if version >= _OLDEST_WITH_PORTS:
        wanted.append(ports)
    if version >= _OLDEST_WITH_SCOPES:
        wanted.append(_SIGNALS_AND_ABSTRACT_SOCKETS)
    attributes = struct.pack(f"={len(wanted)}Q", *wanted)
    rules = _checked(syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for paths, rights in (
            (allowed.read, _READ),
            (allowed.execute, _READ | _EXECUTE),
            (allowed.write, handled & ~_EXECUTE),
            ([_NOWHERE], _WRITE_FILE | _TRUNCATE),
        ):
            for path in dict.fromkeys(paths):
                _allow(syscall, rules, path, rights & handled)
        if allowed.port and ports:
            rule = struct.pack("=QQ", _CONNECT, allowed.port)
            _checked(syscall(_ADD_RULE, rules, _A_PORT, rule, 0))
        _checked(syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


def _allow(syscall: Callable[..., int], rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    except OSError:
        return  # not there, so there is nothing to allow
    try:
        if not os.path.isdir(path):
            rights &= _OF_A_FILE
        _checked(syscall(_ADD_RULE, rules, _BENEATH_A_PATH, struct.pack("=Qi", rights, place), 0))
    finally:
        os.close(place)


def _restrict_calls(call: Any, allowed: Confinement) -> None:
    """Put the filter of calls in place; nothing where the kernel, or this machine's, has none."""
    if _machine() not in _MACHINES or sys.maxsize < 1 << 32:
        return
    import ctypes

    code = b"".join(_filter(allowed))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    try:
        _checked(call.prctl(_SET_SECCOMP, _FILTER, program, 0, 0))
    except OSError as error:
        if error.errno not in (*_LACKING, errno.EINVAL):
            raise


def _filter(allowed: Confinement) -> Iterator[bytes]:
    """Yield the filter, a Berkeley packet filter over the number and arguments of a call."""
    machine, column = _MACHINES[_machine()]
    yield _step(_LOAD, _MACHINE)
    yield _step(_IF_EQUAL, machine, 1, 0)
    yield _step(_RETURN, _REFUSE)
    yield _step(_LOAD, _NUMBER)
    if column == 0:
        yield from _when(_IF_AT_LEAST, _X32, _REFUSE)
    refused = [*_NEVER.values()]
    if allowed.is_alone:
        refused += [*_STARTING.values(), *_QUEUING.values()]
    if not allowed.port:
        refused.append(_SOCKET)
    for numbers in refused:
        if (number := numbers[column]) is not None:
            yield from _when(_IF_EQUAL, number, _REFUSE)
    yield from _when(_IF_EQUAL, _CLONE3, _UNKNOWN)  # its flags cannot be seen; clone does as well
    clone = _step(_IF_ANY_BIT, _THREAD, 0, 1) if allowed.is_alone else None
    yield from _looked_at(_CLONE[column], 0, clone or _step(_IF_ANY_BIT, _NAMESPACES, 1, 0))
    yield from _looked_at(_PRLIMIT[column], 0, _step(_IF_EQUAL, 0, 0, 1))
    yield from _looked_at(_IOCTL[column], 1, _step(_IF_EQUAL, _PUSH_INTO_TERMINAL, 1, 0))
    if allowed.port:
        families = [_step(_IF_EQUAL, family, left, 0) for left, family in _counted(_FAMILIES)]
        yield from _looked_at(_SOCKET[column], 0, *families, _step(_IF_EQUAL, 0, 1, 1))
    if allowed.is_alone:
        for numbers in _SIGNALLING.values():
            yield from _looked_at(numbers[column], 0, _step(_IF_EQUAL, os.getpid(), 0, 1))
    yield _step(_RETURN, _ALLOW)


def _counted(families: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each family with how many steps are left before the one that allows."""
    for number, family in enumerate(families):
        yield len(families) - number, family


def _when(test: int, value: int, then: int) -> Iterator[bytes]:
    yield _step(test, value, 0, 1)
    yield _step(_RETURN, then)


def _looked_at(number: int, argument: int, *tests: bytes) -> Iterator[bytes]:
    """Yield what refuses a call by one of its arguments.

    Args:
        tests: the last goes on to allow it, or skips one step to refuse it.
    """
    yield _step(_IF_EQUAL, number, 0, len(tests) + 3)
    yield _step(_LOAD, _ARGUMENTS + 8 * argument)
    yield from tests
    yield _step(_RETURN, _ALLOW)
    yield _step(_RETURN, _REFUSE)


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)


def _by_machine(numbers: tuple[int, int | None]) -> int | None:
    found = _MACHINES.get(_machine())
    return None if found is None else numbers[found[1]]


def _machine() -> str:
    return os.uname().machine
