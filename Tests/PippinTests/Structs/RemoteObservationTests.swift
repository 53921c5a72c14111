import Pippin
import CoreData
import TestSupport
import Testing

/// The environment variable that tells a child process of the tests which store to change.
private let childStore = "PIPPIN_OBSERVATION_CHILD_STORE"

@Suite("Live queries follow what others change", .timeLimit(.minutes(15)))
struct RemoteObservationTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Coin.self) }

    @Test("follow saves through another container of the same file")
    func container() async throws {
        var states = manager.observe(Coin.self).makeAsyncIterator()
        #expect(try await states.next()?.isEmpty == true)
        let other = PersistenceManager(models: Coin.self, store: .file(counter.file))
        try await other.load()
        try await other.save(Coin(code: "EUR", worth: 1))
        #expect(try await states.next()?.map(\.code) == ["EUR"])
    }

    @Test("follow batch requests of this process")
    func batches() async throws {
        let context = manager.newWorkerContext()
        try await manager.save([Coin(code: "EUR", worth: 1), Coin(code: "USD", worth: 2)])
        var states = manager.observe { try $0.count(Coin.self) }.makeAsyncIterator()
        #expect(try await states.next() == 2)
        try await context.perform {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Coin")
            request.predicate = NSPredicate(format: "worth > 1")
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        }
        #expect(try await states.next() == 1)
        #expect(try await manager.deleteAll(Coin.self) == 1)
        #expect(try await states.next() == 0)
    }

    // On PostgreSQL, where it would wait until its time is up, the other process knows nothing of the substitute for
    // files.
    @Test(
        "follow saves in another process", .ownThread,
        .enabled(if: ProcessInfo.processInfo.environment["PIPPIN_STORE"] == nil))
    func process() async throws {
        var states = manager.observe(Coin.self).makeAsyncIterator()
        #expect(try await states.next()?.isEmpty == true)
        let child = Process()
        // This program again, with nothing but the test below.
        child.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        child.arguments =
            Self.argumentsBeforeFilter() + ["--testing-library", "swift-testing", "--filter", "savesForAnObserver"]
        child.environment = ProcessInfo.processInfo.environment.merging([childStore: counter.file.path]) { $1 }
        child.standardOutput = FileHandle.nullDevice
        child.standardError = FileHandle.nullDevice
        try child.run()
        child.waitUntilExit()
        #expect(try await states.next()?.map(\.code) == ["from another process"])
    }

    @Test(
        "The other process saves (for the test above)",
        .enabled(if: ProcessInfo.processInfo.environment[childStore] != nil))
    func savesForAnObserver() async throws {
        let path = try #require(ProcessInfo.processInfo.environment[childStore])
        let manager = PersistenceManager(models: Coin.self, store: .file(URL(fileURLWithPath: path)))
        try await manager.load()
        try await manager.save(Coin(code: "from another process", worth: 1))
    }

    /// What a program that loads the tests from a bundle needs to be told again.
    private static func argumentsBeforeFilter() -> [String] {
        let arguments = ProcessInfo.processInfo.arguments
        guard let position = arguments.firstIndex(of: "--test-bundle-path"), position + 1 < arguments.count else {
            return []
        }
        return Array(arguments[position...(position + 1)])
    }
}

@Suite("Many at once", .timeLimit(.minutes(15)))
struct ConcurrencyTests {
    @Test("insert-or-update of the same identifiers from many tasks never duplicates")
    func tasks() async throws {
        let counter = try Counter(Shop.self, Coin.self)
        let manager = counter.manager
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    let coins = (0..<20).map { Coin(code: "\($0)", worth: Double(task)) }
                    try await manager.save(task % 2 == 0 ? coins : coins.reversed())
                }
            }
            try await group.waitForAll()
        }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 20)
        #expect(try await manager.fetch(Coin.self).map(\.worth).allSatisfy { (0..<16).contains(Int($0)) })
    }

    @Test("insert-or-update from two managers of one file never duplicates")
    func managers() async throws {
        let counter = try Counter(Coin.self)
        let other = PersistenceManager(models: Coin.self, store: .file(counter.file))
        try await other.load()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<6 {
                for manager in [counter.manager, other] {
                    group.addTask { try await manager.save((0..<10).map { Coin(code: "\($0)", worth: Double(round)) }) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 10)
    }

    @Test("an observer sees the end of it, whatever it misses in between")
    func observing() async throws {
        let counter = try Counter(Coin.self)
        let manager = counter.manager
        let observer = Task {
            let counts = manager.observe { try $0.count(Coin.self) }
            for try await count in counts where count == 60 { return count }
            return 0
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    for number in 0..<10 { try await manager.save(Coin(code: "\(task)-\(number)", worth: 1)) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await observer.value == 60)
    }
}
