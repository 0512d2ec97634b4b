// Package sandbox confines a process: Layers of Profiles (the JSON of
// sandbox.json) become Landlock rules, a seccomp filter and resource limits, and
// a Proxy in the engine lets it reach the domains that they allow. It needs no
// privileges and no helper program.
//
// # Use
//
// The engine checks layers with ParseLayers and Check(data folder) before it
// writes sandbox.json, and again before each start. It has the keeper start
// Command(executable, path, umask, argv), the launch stage, in
// Environ(environment, data folder, url). The process's environment holds
// Layers.Env(url), instead of variables of the same names.
// url is what Proxy.Grant(layers, refused) gave; refused is called with lines
// for the process's log. When the process has ended for good, the engine calls revoke.
// A process that outlives its engine keeps its url, so the engine stores it (it
// holds a password), and the next engine opens its proxy at the same Port and
// calls Proxy.Restore. Layers for which NeedsProxy is false need none of this.
//
// Environ keeps the process's variables from the launch stage, which may be
// linked dynamically: LD_PRELOAD and its like would run code in it that nothing
// confines.
//
// # Layers
//
// What several profiles say holds all at once: each is a Landlock ruleset of its
// own, and the kernel grants what all of them grant. So a profile that somebody
// else asked for, put behind another one, only ever narrows that, whatever its
// paths lead to. The smallest of each limit counts, and a host must be allowed
// by each layer that has a "network".
//
// # Files
//
// Everything may be read but denyRead and the data folder; nothing may be written but allowWrite
// less denyWrite, /dev/null and its like, and the terminal or log that the
// process was given. Landlock grants on what a path leads to, so neither "..",
// a symbolic link, another mount of the same file system nor a rename leads
// around a denial, and a denial wins over a grant. What may not be read may not
// be written either.
//
// Landlock (kernel: Documentation/userspace-api/landlock.rst) can only grant,
// and what it grants on a folder holds for all below. A denial is therefore a
// grant on everything beside it: on the entries, at the time of the start, of
// each folder on the way to what is denied, and not on these folders
// themselves. It follows that
//
//   - what is made later directly in such a folder (not deeper) is denied too,
//     and so is a file there that was replaced by a rename;
//   - under a denyWrite, nothing can be made or removed directly in a folder
//     between allowWrite and it;
//   - where a folder (or what does not exist) is in denyRead, the folders above it cannot be listed, since
//     that right could not be kept from the denied one; what is in them can be
//     read by name. A denied file has no such effect;
//   - a denied path that does not exist is denied all the same, if made later.
//
// Not covered, because Landlock does not: mode, owner, times and extended
// attributes of files (chmod(2) and the like), stat(2), inotify(7), other hard
// links of a denied file, device files outside /dev, System V IPC and POSIX
// message queues. Paths are looked up at each start, so whoever else may write
// a folder that a profile names something in can lead the profile elsewhere.
//
// # Network
//
// Without "network" nothing is restricted. With no allowed domain, no Internet
// socket can be made. With some, TCP can be connected to the proxy's port only,
// nothing can be bound, and there is neither UDP nor any other protocol; names
// are looked up by the proxy. Landlock knows ports and not addresses: a program
// made for it can reach this one port of other hosts.
//
// Unix sockets lead to daemons outside (Docker, D-Bus, Tandem itself), whatever
// the network is. Where the kernel can confine them (Landlock with
// RESOLVE_UNIX), those outside allowWrite are out of reach, abstract ones too;
// elsewhere no Unix socket can be made. Connected pairs (socketpair(2)) work.
//
// # Devices
//
// Terminals other than its own can neither be read nor written: who could read
// one would take what a person types there. The same holds for consoles, input
// devices, the screen's memory, the kernel's messages, memory, and disks. What
// allowWrite names of them is open for both ("/dev/ttyUSB0"), and with a folder
// around them ("/dev") they stay closed. Its own terminal is the one that standard
// input, output or error is; /dev/tty is open.
//
// As denials are grants on what lies beside, no file can be read that is made
// later directly in "/" or "/dev": a device that is plugged in, for one.
//
// A confined program cannot make new terminals, as script, tmux and expect do:
// the file of a new one is made later, and Landlock asks for a rule about it also
// when it is opened from its master (TIOCGPTPEER, ioctl_tty(2)). A grant on /dev/pts
// would be one on all terminals; who wants that gives ["/dev/pts", "/dev/ptmx"]
// to allowWrite.
//
// # The rest
//
// No signal reaches, and no debugger attaches to, a process outside, and none is
// slowed down by its priority, its scheduling or its limits; only the choice
// of its processors (sched_setaffinity(2)) is open, which programs make for their own
// threads. There are no new privileges (set-user-ID does nothing, and no file is
// given it, nor set-group-ID by root), no io_uring
// (it goes around system call filters), no new namespaces, which sandboxes of
// browsers and containers are made of, and of root's capabilities only those over files
// and users stay. What /proc tells everybody about a process, such as its
// arguments, can be read. All of it holds for all descendants.
//
// A refused connection is a line in the process's log. A refused file is EACCES
// to the program, which usually says so in its log; the kernel tells nobody
// else but its audit log, where there is one (type=LANDLOCK_ACCESS).
package sandbox
