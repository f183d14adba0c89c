import Glibc
import MultipartCore

Descriptor.ignoreBrokenPipes()
Descriptor.occupyStandardStreams()
Hardening.forbidCoreFiles()
let signals = Signals()
Task.detached {
  // Not `exit`: nothing is buffered, and once the record is gone a kill would have the whole sent again.
  _exit(await Runner.run(Argument.ofProcess(), environment: Environment.ofProcess(), signals: signals).rawValue)
}
signals.wait()
