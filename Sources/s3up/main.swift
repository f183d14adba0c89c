import Glibc
import MultipartBasics
import MultipartCore

Descriptor.ignoreBrokenPipes()
guard Descriptor.occupyStandardStreams() else {
  Console.standardError().line("s3up: a standard stream is closed, and nothing could be opened in its place")
  Console.standardError().line("Run it with standard input, output and error open.")
  _exit(ExitStatus.temporary.rawValue)
}
Hardening.forbidCoreFiles()
let signals = Signals()
let words = Argument.ofProcess()
do throws(Failure) {
  try Store.requireProcessLimits()
} catch {
  signals.end(Runner.refuse(words, environment: StoreOptions.processEnvironment(), because: error).rawValue)
}
// Something loaded into the process can keep its arguments from Swift; what was asked for is then not done.
guard CommandLine.argc > 0 else {
  Console.standardError().line("s3up: the program did not get its arguments")
  Console.standardError().line("Run it without what LD_PRELOAD loads.")
  _exit(ExitStatus.usage.rawValue)
}
Task.detached {
  signals.end(await Runner.run(words, environment: StoreOptions.processEnvironment(), signals: signals).rawValue)
}
signals.wait()
