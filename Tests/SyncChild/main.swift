import Foundation
import PippinSync

/// A program that counts, and keeps its file in step with a server, until somebody kills it:
/// `SyncChild FILE SERVER-FILE NAME`. It prints each number once it is saved.
func count(_ arguments: [String]) async throws {
    let manager = PersistenceManager(
        models: Counter.self, Entry.self,
        store: .file(URL(fileURLWithPath: arguments[0]), keepsHistory: .always))
    let sync = try StoreSync(
        manager, .file(URL(fileURLWithPath: arguments[1]), keepsHistory: .always), isLive: false)
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

do { try await count(Array(CommandLine.arguments.dropFirst())) } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
