import Foundation
import Testing

/// The shape of the package: what a target may import, and which folder of it may depend on which.
@Suite("The house")
struct HouseTests {
    @Test("A file imports only what its target names in Package.swift")
    func imports() throws {
        let targets = try House.targets()
        #expect(targets.count > 10)
        var violations: [String] = []
        for file in try House.files() {
            guard let named = targets[file.target] else { continue }
            for module in file.code.imports where targets[module] != nil && !named.contains(module) {
                violations.append("\(file.path) imports \(module), which \(file.target) does not name")
            }
        }
        #expect(violations == [])
    }

    @Test(
        "Tests that block their thread have one of their own: tasks share a few, and wait for ever where none is left")
    func blockedThreads() throws {
        let blocking = try Regex(
            #"\.wait\((\)|timeout)|\busleep\(|\bThread\.sleep|\bsleep\(\d|\bwaitUntilExit\(|\bconcurrentPerform\("#)
        let folder = House.root.appendingPathComponent("Tests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".swift") && $0.split(separator: "/").first?.hasSuffix("Tests") == true
        }
        let without = try files.filter { path in
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            return text.contains("@Test(") && text.contains(blocking)
                && ![".ownThread", ".needsPostgres"].contains(where: text.contains)
        }
        // These block a queue of a store's or of a context's, which no task shares.
        #expect(
            without.sorted() == [
                "CoreDataTests/Context/MergingTests.swift", "PippinTests/Loading/ClosedStoreTests.swift",
                "PippinTests/Structs/CancellationTests.swift",
            ])
    }

    @Test("Only the engine's targets, the connection's and the command line name SQLite; StoreSession does in one file")
    func sqlite() throws {
        let modules: Set<String> = ["SQLiteConnection", "SQLiteEngine", "CPippinSQLite"]
        let allowed = modules.union(["PippinCommand", "StoreReading"])
        let naming = try House.files().filter {
            !allowed.contains($0.target) && !modules.isDisjoint(with: $0.code.imports)
        }
        #expect(naming.map(\.path) == ["StoreSession/Stores/StoreFormats.swift"])
    }

    @Test("Each C library is imported by the targets that wrap it, so that no other program links it")
    func libraries() throws {
        let wrappers: [String: Set<String>] = [
            "CPippinSQLite": ["SQLiteConnection", "SQLiteEngine"], "CPippinPQ": ["PostgresConnection"],
            "CPippinZlib": ["CoreDataModel", "StoreReading", "PippinSync"], "CPippinCurl": ["PippinSync"],
            "CPippinEdit": ["PippinShell"],
            "CPippinMicroHTTPD": ["LoopbackServer"], "CPippinRuntime": ["CoreDataModel", "CoreData"],
        ]
        let map = House.root.appending(path: "Sources/CPippinLibraries/module.modulemap")
        let modules = try String(contentsOf: map, encoding: .utf8)
            .matches(of: try Regex(#"\nmodule (\w+)"#)).compactMap { $0.output[1].substring.map(String.init) }
        #expect(Set(modules) == Set(wrappers.keys))
        for (library, targets) in wrappers {
            #expect(Set(try House.files().filter { $0.code.imports.contains(library) }.map(\.target)) == targets)
        }
    }

    @Test(
        "Folders that could stand alone import no target",
        arguments: [
            "StoreReading/DatabaseFiles/", "PredicateFormat/SearchText/", "ModelFiles/KeyedArchives/",
            "CodeGeneration/Accessors/", "CodeGeneration/Parsing/", "CodeGeneration/Names/",
        ])
    func standsAlone(folder: String) throws {
        let targets = try House.targets()
        let files = try House.files().filter { $0.path.hasPrefix(folder) }
        #expect(!files.isEmpty)
        #expect(files.filter { !$0.code.imports.isDisjoint(with: targets.keys) }.map(\.path) == [])
    }

    @Test("Sources has fewer than 36 targets")
    func targetCount() throws {
        let sources = House.root.appending(path: "Sources")
        #expect(try FileManager.default.contentsOfDirectory(atPath: sources.path).count < 36)
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

    @Test("Foundation, which reads shared parts of property lists without any limit, reads lists in one file")
    func propertyLists() throws {
        let reading = try House.files().filter { file in
            let text = try String(contentsOf: House.root.appending(path: "Sources/" + file.path), encoding: .utf8)
            return text.contains("PropertyListSerialization.propertyList(from")
        }
        #expect(reading.map(\.path) == ["ModelFiles/KeyedArchives/PropertyLists/PropertyListBridging.swift"])
    }

    @Test("A type of one module gets a protocol of another in one of the two: elsewhere, a program may not have it")
    func conformances() throws {
        let declaration = try Regex(#"\b(?:class|struct|enum|protocol|actor)\s+(\w+)"#)
        let conformance = try Regex(#"(?m)^(?:public |package )?extension ([\w.]+)\s*:\s*([^{]+?)(?: where [^{]*)?\{"#)
        func last(_ name: Substring?) -> String {
            let word = name?.split(separator: ".").last?.split(separator: "<").first ?? ""
            return word.trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "@unchecked ", with: "")
        }
        let texts = try House.files().map { file in
            (file.target, try String(contentsOf: House.root.appending(path: "Sources/" + file.path), encoding: .utf8))
        }
        var targets: [String: Set<String>] = [:]
        for (target, text) in texts {
            for match in text.matches(of: declaration) {
                targets[last(match.output[1].substring), default: []].insert(target)
            }
        }
        var elsewhere: Set<String> = []
        for (target, text) in texts {
            for match in text.matches(of: conformance) {
                let type = last(match.output[1].substring)
                for part in match.output[2].substring?.split(separator: ",") ?? [] {
                    let (own, given) = (targets[type], targets[last(part)])
                    if let own, let given, !own.contains(target), !given.contains(target) {
                        elsewhere.insert("\(type): \(last(part))")
                    }
                }
            }
        }
        // Only a context runs a request within a predicate.
        #expect(elsewhere == ["NSFetchRequest: FetchingOperand"])
    }

    @Test("Pippin knows nothing of Core Data: neither it nor what it stands on imports it")
    func objects() throws {
        let targets = try House.targets()
        var (below, next): (Set<String>, [String]) = ([], ["Pippin"])
        while let target = next.popLast() {
            if below.insert(target).inserted { next += targets[target] ?? [] }
        }
        #expect(!below.contains("CoreData"))
        let using = try House.files().filter { below.contains($0.target) && $0.code.imports.contains("CoreData") }
        #expect(using.map(\.path) == [])
    }

    @Test("Only the engines, and the command line for bare stores, know SQL")
    func sql() throws {
        let allowed: Set<String> = [
            "SQLGeneration", "SQLiteEngine", "PostgresEngine", "StoreReading",
        ]
        let naming = try House.files().filter {
            !allowed.contains($0.target) && $0.code.imports.contains("SQLGeneration")
        }
        #expect(naming.map(\.path) == [])
    }

    @Test("Only the engine, its connection, its products and tools name PostgreSQL, and link its library")
    func postgres() throws {
        let modules: Set<String> = [
            "CPippinPQ", "PostgresConnection", "PostgresEngine", "CoreDataPostgres", "PippinPostgres",
            "PippinPostgresCommand", "SwiftDataPostgres",
        ]
        let allowed = modules.union(["PostgresStoreReading"])
        let naming = try House.files().filter {
            !allowed.contains($0.target) && !modules.isDisjoint(with: $0.code.imports)
        }
        #expect(naming.map(\.path) == [])
    }

    @Test("A folder depends on folders below it only", arguments: Rooms.order.keys.sorted())
    func folders(target: String) throws {
        let order = try #require(Rooms.order[target])
        let files = try House.files().filter { $0.target == target }
        #expect(
            Set(files.compactMap(\.folder)) == Set(order), "Tests/HouseTests/Rooms.swift lists the folders of \(target)"
        )
        let violations = try Dependency.all(in: target).filter { dependency in
            guard let place = order.firstIndex(of: dependency.folder), let other = order.firstIndex(of: dependency.home)
            else { return false }
            return other > place && Rooms.upward["\(target)/\(dependency.folder)"]?[dependency.home] == nil
        }
        #expect(violations.map(\.description) == [])
    }

    @Test("Each upward dependency that is listed is still there")
    func upward() throws {
        for (place, homes) in Rooms.upward {
            let parts = place.split(separator: "/").map(String.init)
            let found = try Dependency.all(in: parts[0]).filter { $0.folder == parts[1] }.map(\.home)
            #expect(Set(homes.keys).subtracting(found) == [], "\(place) depends on these no more")
        }
    }

    @Test("A folder of Sources has at most twenty files, and Sources fewer than a thousand")
    func fileCounts() throws {
        let files = try House.files()
        let folders = Dictionary(grouping: files) { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
        #expect(folders.filter { $0.value.count > 20 }.keys.sorted() == [])
        #expect(files.count < 1_000)
    }
}
