import Foundation
import Testing

/// The shape of the package: what a target may import, and which room of it may lean on which.
@Suite("The house")
struct HouseTests {
    @Test("A file imports only what its target names in Package.swift")
    func imports() throws {
        let targets = try House.targets()
        #expect(targets.count > 10)
        var violations: [String] = []
        for file in try House.files() {
            guard let named = targets[file.target] else { continue }
            for module in file.imports where targets[module] != nil && !named.contains(module) {
                violations.append("\(file.path) imports \(module), which \(file.target) does not name")
            }
        }
        #expect(violations == [])
    }

    @Test("Only the engine's targets, the connection's and the command line name SQLite; CoreData does in one file")
    func sqlite() throws {
        let modules: Set<String> = ["SQLiteConnection", "SQLiteEngine", "SQLiteMigration", "CSQLite"]
        let allowed = modules.union(["PippinCommand", "StoreReading"])
        let naming = try House.files().filter { !allowed.contains($0.target) && !modules.isDisjoint(with: $0.imports) }
        #expect(naming.map(\.path) == ["CoreData/BuiltInStores/StoreTypes.swift"])
    }

    @Test("Statements that read or write rows are made in SQLGeneration")
    func statements() throws {
        let words = try Regex(#"\b(?:SELECT|INSERT|UPDATE|DELETE|REPLACE)\b|WHERE Z_"#)
        // What SQLite has of a database's structure is asked of SQLite.
        let catalog = try Regex(#"sqlite_master|pragma_\w+\(|pg_\w+|pippin\.\w+"#)
        let others = try House.files().filter { $0.target != "SQLGeneration" }
        let making = others.filter { file in
            file.literals.contains { $0.contains(words) && !$0.contains(catalog) }
        }
        #expect(Set(making.map(\.path)) == Set(Rooms.statements.keys))
    }

    @Test("Pippin shows nothing of Core Data but the door to its container")
    func door() throws {
        let sources = House.root.appending(path: "Sources")
        let showing = try House.files().filter { $0.target == "Pippin" }.filter {
            try String(contentsOf: sources.appending(path: $0.path), encoding: .utf8).contains("public import CoreData")
        }
        #expect(showing.map(\.path) == ["Pippin/Manager/PersistenceManager.swift"])
    }

    @Test("Only the engines, and the command line for bare stores, know SQL")
    func sql() throws {
        let allowed: Set<String> = [
            "SQLGeneration", "SQLMigration", "SQLiteEngine", "SQLiteMigration", "PostgresEngine", "PostgresMigration",
            "StoreReading",
        ]
        let naming = try House.files().filter { !allowed.contains($0.target) && $0.imports.contains("SQLGeneration") }
        #expect(naming.map(\.path) == [])
    }

    @Test("Only the engine, its connection, its products and tools name PostgreSQL, and link its library")
    func postgres() throws {
        let modules: Set<String> = [
            "CLibPQ", "PostgresConnection", "PostgresEngine", "PostgresMigration", "CoreDataPostgres", "PippinPostgres",
            "PippinPostgresCommand",
        ]
        let allowed = modules.union(["PostgresStoreReading"])
        let naming = try House.files().filter { !allowed.contains($0.target) && !modules.isDisjoint(with: $0.imports) }
        #expect(naming.map(\.path) == [])
    }

    @Test("A room leans on rooms below it only", arguments: Rooms.order.keys.sorted())
    func rooms(target: String) throws {
        let order = try #require(Rooms.order[target])
        let files = try House.files().filter { $0.target == target }
        let rooms = Set(files.compactMap(\.room))
        #expect(rooms == Set(order), "Tests/HouseTests/Rooms.swift lists the rooms of \(target)")
        var owners: [String: Set<String>] = [:]
        for file in files {
            guard let room = file.room else { continue }
            for name in file.declarations { owners[name, default: []].insert(room) }
        }
        var violations: [String] = []
        for file in files {
            guard let room = file.room, let place = order.firstIndex(of: room) else { continue }
            for name in file.words.subtracting(Rooms.shells[target] ?? []).sorted() {
                guard let homes = owners[name], homes.count == 1, let home = homes.first,
                    let other = order.firstIndex(of: home), other > place,
                    Rooms.upward["\(target)/\(room)"]?[home] == nil
                else { continue }
                violations.append("\(file.path) names \(name), of \(home), which is above \(room)")
            }
        }
        #expect(violations == [])
    }

    @Test("Each leaning that goes upward is still there")
    func upward() throws {
        let files = try House.files()
        for (room, homes) in Rooms.upward {
            for home in homes.keys {
                let target = String(room.prefix { $0 != "/" })
                let declared = Set(files.filter { $0.target == target && $0.room == home }.flatMap(\.declarations))
                let naming = files.filter { "\($0.target)/\($0.room ?? "")" == room }
                #expect(
                    naming.contains { !$0.words.isDisjoint(with: declared) },
                    "\(room) leans on \(home) no more: \(target)")
            }
        }
    }
}
