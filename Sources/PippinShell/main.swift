import Foundation
import StoreReading

StandardStreams.replaceClosed()
signal(SIGPIPE, SIG_IGN)
EndingSignals.block()
CarefulReading.begin()
exit(Shell.run(Array(CommandLine.arguments.dropFirst())))
