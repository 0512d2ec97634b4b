// Package sandbox confines a process: Layers of Profiles (the JSON of sandbox.json) become Landlock
// rules, a seccomp filter and resource limits, and a Proxy in the engine lets the process reach the
// domains they allow. It needs no privileges and no helper program.
//
// # Use
//
// The engine checks layers with ParseLayers and Check(data directory) before it writes
// sandbox.json, and again before each start. It asks the keeper to start Command(executable, path,
// umask, argv), the launch stage, in Environ(environment, data directory, url). The process's
// environment holds Layers.Env(url), instead of variables of the same names. url comes from
// Proxy.Grant(layers, refused); refused is called with lines for the process's log. Once the
// process has finally exited, the engine calls revoke. A process that outlives its engine keeps its
// url, so the engine stores it (it holds a password), and the next engine opens its proxy at the
// same Port and calls Proxy.Restore. Layers for which NeedsProxy is false need none of this.
//
// Environ keeps the process's variables from affecting the launch stage, which may be linked
// dynamically: LD_PRELOAD and the like would run unconfined code in it.
//
// # Layers
//
// All profiles apply at once: each is a separate Landlock ruleset, and the kernel grants only the
// access granted by all. A profile added by someone else therefore only narrows the others,
// wherever its paths lead. The smallest of each limit counts, and a host must be allowed by each
// layer with a "network".
//
// # Files
//
// Everything may be read except denyRead and the data directory. Nothing may be written except
// allowWrite minus denyWrite, /dev/null and the like, and the process's own terminal or log.
// Landlock grants access to the file at the end of a path, so neither "..", a symbolic link,
// another mount of the same file system nor a rename evades a denial, and a denial wins over a
// grant. Anything unreadable is unwritable too.
//
// Landlock (kernel: Documentation/userspace-api/landlock.rst) can only grant, and a grant on a
// directory covers everything below it. A denial is therefore a grant on everything beside it: on
// the entries, at the time of the start, of each directory on the way to the denied path, but not
// on those directories themselves. Consequently
//
//   - an entry created later directly in such a directory (not deeper) is denied too, and so is a file
//     replaced there by a rename;
//   - under a denyWrite, nothing can be created or removed directly in a directory between allowWrite
//     and it;
//   - with a directory (or a missing path) in denyRead, the directories above it cannot be listed,
//     because that right would include the denied one; their entries can be read by name. A denied
//     file has no such effect;
//   - a denied path is denied even if it is created later.
//
// Not covered, because Landlock does not: mode, times and extended attributes of files
// (chmod(2) and the like), stat(2), inotify(7), other hard links of a denied file, device files
// outside /dev, System V IPC and POSIX message queues. Paths are resolved at each start, so anyone
// else able to write to a directory on the way to a path can redirect the profile.
//
// # Network
//
// Without "network" nothing is restricted. With no allowed domain, no Internet socket can be
// created. With some, TCP can connect to the proxy's port only, nothing can be bound, and there is
// neither UDP nor any other protocol; the proxy resolves names. Landlock knows ports, not
// addresses: a program written for the purpose can reach this one port of other hosts.
//
// Unix sockets lead to daemons outside (Docker, D-Bus, Tandem itself), whatever the network is. If
// the kernel can confine them (Landlock with RESOLVE_UNIX), those outside allowWrite are out of
// reach, abstract ones included; otherwise no Unix socket can be created. Connected pairs
// (socketpair(2)) work.
//
// # Devices
//
// Terminals other than its own can be neither read nor written: reading one would take the user's
// input. The same holds for consoles, input devices, the screen's memory, the kernel's messages,
// memory, and disks. A device named in allowWrite is open for both ("/dev/ttyUSB0"); naming a
// directory around it ("/dev") leaves it closed. A process's own terminal is its standard input,
// output or error; /dev/tty is open.
//
// As denials are grants on everything beside them, no file created later directly in "/" or "/dev"
// can be read: a device plugged in, for example.
//
// A confined program cannot create terminals, as script, tmux and expect do: the file of a new one
// is created later, and Landlock demands a rule for it even when it is opened from its master
// (TIOCGPTPEER, ioctl_tty(2)). A grant on /dev/pts would cover all terminals; it can be given
// explicitly as ["/dev/pts", "/dev/ptmx"] in allowWrite.
//
// # The rest
//
// No signal reaches a process outside, no debugger attaches to it, and its priority, scheduling and
// limits cannot be changed. Only the processors it runs on can (sched_setaffinity(2)), because
// programs use that call for their own threads. There are no new privileges (set-user-ID has
// no effect, and no file can get it, nor set-group-ID as root), no io_uring (it bypasses system
// call filters), and no new namespaces, the basis of sandboxes in browsers and containers. Of
// root's capabilities only those over files and users remain, without those to give files away
// (CAP_CHOWN) and to change the files of others (CAP_FOWNER). Facts shown to everybody by /proc,
// such as a process's arguments, can be read. All of this applies to all descendants.
//
// A refused connection is logged in the process's log. A refused file is EACCES to the program,
// which usually reports it; apart from that, only the kernel's audit log has it, if enabled
// (type=LANDLOCK_ACCESS).
package sandbox
