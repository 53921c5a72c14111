import Foundation

// A program that starts, and migrates its store: `PostgresMigrationChild inPlace|plan URI`. It prints how many books
// there are.
guard CommandLine.arguments.count == 3, let way = Shelf.Way(rawValue: CommandLine.arguments[1]) else { exit(64) }
do {
    print(try await Shelf(at: CommandLine.arguments[2]).migrate(way))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
