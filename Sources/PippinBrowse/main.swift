import Foundation
import LoopbackServer
import StoreBrowser
import StoreReading

signal(SIGPIPE, SIG_IGN)
EndingSignals.block()
exit(BrowseCommand.run(Array(CommandLine.arguments.dropFirst())))
