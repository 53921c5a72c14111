import CoreData
import Foundation

// Makes the stores that the browser is tested with, and saves to them as another process would.
let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2, let verb = arguments.first, let path = arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: BrowserChild make|tidy|many|add STORE [COUNT]\n".utf8))
    exit(64)
}
let store = try Bookshop(at: URL(fileURLWithPath: path))
switch verb {
case "make": try store.fill()
case "tidy": try store.fillTidily()
case "many": try store.fill(count: Int(arguments.last ?? "") ?? 1_000_000)
case "add": try store.add(title: arguments.last ?? "New")
default: exit(64)
}
