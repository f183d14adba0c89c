import Glibc
import MultipartCore

Descriptor.ignoreBrokenPipes()
Descriptor.occupyStandardStreams()
Hardening.forbidCoreFiles()
let signals = Signals()
let words = Argument.ofProcess()
Task.begin {
  signals.end(await Runner.run(words, environment: Environment.ofProcess(), signals: signals).rawValue)
}
if words.contains(where: \.namesStoreCommand) { Libraries.prepare() }
signals.wait()
