import Foundation
import PippinPostgres
import PippinSync

func location(_ argument: String) -> StoreLocation {
    argument.hasPrefix("postgres")
        ? .postgres(argument, keepsHistory: .always)
        : .file(URL(fileURLWithPath: argument), keepsHistory: .always)
}

/// A program that counts, and keeps its file in step with a server, until somebody kills it:
/// `SyncChild FILE SERVER NAME`. It prints each number once it is saved.
func count(_ arguments: [String]) async throws {
    let manager = PersistenceManager(models: Counter.self, Entry.self, store: location(arguments[0]))
    let sync = try StoreSync(manager, location(arguments[1]), isLive: false)
    let name = arguments[2]
    // The counter comes from the server: two that were made apart would be one, with the larger number.
    try await sync.finish()
    var number = try await manager.count(Entry.self, where: \.author == name)
    while true {
        number += 1
        let entry = Entry(id: "\(name) \(number)", author: name)
        try await manager.write { access in
            var counter = try access.find(Counter.self, id: "all") ?? Counter(id: "all")
            counter.total += 1
            try access.save(counter)
            try access.save(entry)
        }
        FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        if number % 3 == 0 { try await sync.finish() }
    }
}

/// The most memory that the process has had, in kilobytes.
func mostMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
}

/// A program that downloads a server: `SyncChild download FILE SERVER SMALL-FILE SMALL-SERVER`. It prints the most
/// memory that it had after a small download, and after the other one.
func download(_ arguments: [String]) async throws {
    for pair in [[arguments[2], arguments[3]], [arguments[0], arguments[1]]] {
        let manager = PersistenceManager(models: Line.self, Former.self, store: location(pair[0]))
        let sync = try StoreSync(manager, location(pair[1]), isLive: false)
        let start = ContinuousClock.now
        try await sync.finish()
        let count = try await manager.count(Line.self)
        FileHandle.standardOutput.write(
            Data("\(try mostMemory()) \(count) \(ContinuousClock.now - start)\n".utf8))
        await sync.stop()
        await manager.close()
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    if arguments.first == "download" {
        try await download(Array(arguments.dropFirst()))
    } else {
        try await count(arguments)
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
