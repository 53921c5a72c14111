@testable import CoreData
@testable import StoreSession
import Foundation
import SQLiteConnection
import TestSupport
import Testing

/// The environment variable that tells a child process of the tests which store to change.
private let childStore = "PIPPIN_REMOTE_CHANGE_CHILD_STORE"

@Suite("Changes of a store are announced, whoever makes them", .ownThread)
struct RemoteChangeTests {
    private static var options: [String: NSObject] {
        [
            NSPersistentHistoryTrackingKey: NSNumber(value: true),
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
        ]
    }

    /// Waits for the next announcement of a coordinator that a condition holds for.
    private final class Announcement: @unchecked Sendable {
        // @unchecked Sendable: `info` is written before the semaphore is signalled, and read after.
        private let semaphore = DispatchSemaphore(value: 0)
        private var token: (any NSObjectProtocol)?
        private(set) var info: [AnyHashable: Any] = [:]

        init(
            _ source: NSPersistentStoreCoordinator,
            until holds: @escaping @Sendable (Notification) -> Bool = { _ in true }
        ) {
            token = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: source, queue: nil
            ) { [weak self] notification in
                guard let self, self.info.isEmpty, holds(notification) else { return }
                self.info = notification.userInfo ?? [:]
                self.semaphore.signal()
            }
        }

        deinit { if let token { NotificationCenter.default.removeObserver(token) } }

        /// Fails after half a minute, which only a missing announcement takes.
        func wait() -> Bool { semaphore.wait(timeout: .now() + 30) == .success }
    }

    /// Counts announcements up to a number of them.
    private final class Count: @unchecked Sendable {
        // @unchecked Sendable: the lock guards it.
        private let lock = NSLock()
        private var left: Int

        init(_ count: Int) { left = count }

        func isReached() -> Bool {
            lock.withLock {
                left -= 1
                return left == 0
            }
        }
    }

    @Test("A save through the coordinator is announced with store, place and history token")
    func ownSave() throws {
        let store = try BatchStore(options: Self.options)
        let source = store.container.persistentStoreCoordinator
        let announcement = Announcement(source)
        try store.save { $0.make("Tag", ["name": "a"]) }
        #expect(announcement.wait())
        #expect(announcement.info[NSStoreUUIDKey] as? String == source.persistentStores[0].identifier)
        #expect(announcement.info[NSPersistentStoreURLKey] as? URL == store.url)
        let token = announcement.info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        #expect(token == source.currentPersistentHistoryToken(fromStores: nil))
    }

    @Test("The first change is announced at once, and those that follow soon after it later, each of them")
    func together() {
        let changes = ChangeAnnouncements(pause: .seconds(1000))
        guard case .now = changes.add(followsSave: true) else { return #expect(Bool(false), "the first one waits") }
        #expect(changes.add(followsSave: true) == nil)
        #expect(changes.take() == [true, true])
        guard case .at(let moment) = changes.add(followsSave: true) else {
            return #expect(Bool(false), "the next one does not wait")
        }
        #expect(moment > .now() + .seconds(500))
        #expect(changes.add(followsSave: false) == nil)
        #expect(changes.take() == [true, false])
        let later = ChangeAnnouncements(pause: .nanoseconds(0))
        _ = later.add(followsSave: true)
        _ = later.take()
        guard case .now = later.add(followsSave: true) else { return #expect(Bool(false), "one that comes late waits") }
        #expect(later.take() == [true])
    }

    @Test("Each of many saves in a row is announced")
    func many() throws {
        let store = try BatchStore(options: Self.options)
        let count = Count(51)
        let announcement = Announcement(store.container.persistentStoreCoordinator) { _ in count.isReached() }
        for number in 0...50 { try store.save { $0.make("Tag", ["name": "\(number)"]) } }
        #expect(announcement.wait())
    }

    @Test("What others save at the place to which a store was moved is announced")
    func moved() throws {
        let folder = try TestFolder()
        let (first, place) = (folder.file("first/a.sqlite"), folder.file("second/a.sqlite"))
        for url in [first, place] {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        let source = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try source.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: first, options: Self.options)
        try source.replacePersistentStore(at: place, withPersistentStoreFrom: first, type: .sqlite)
        #expect(source.setURL(place, for: store))
        let announcement = Announcement(source)
        let other = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try other.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: place, options: Self.options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = other
        try context.performAndWait {
            context.make("Tag", ["name": "x"])
            try context.save()
        }
        #expect(announcement.wait())
    }

    @Test("Without the option nothing is announced")
    func withoutOption() throws {
        let store = try BatchStore(options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        let watched = try BatchStore(options: Self.options)
        let source = store.container.persistentStoreCoordinator
        nonisolated(unsafe) var isAnnounced = false  // written before the other store's announcement is waited for
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: source, queue: nil
        ) { _ in isAnnounced = true }
        defer { NotificationCenter.default.removeObserver(token) }
        let announcement = Announcement(watched.container.persistentStoreCoordinator)
        try store.save { $0.make("Tag", ["name": "a"]) }
        // Announcements come in order: had there been one, it would have come before this.
        try watched.save { $0.make("Tag", ["name": "a"]) }
        #expect(announcement.wait())
        #expect(!isAnnounced)
    }

    @Test("A save of another coordinator of the file is announced, and its history is there to be fetched")
    func otherCoordinator() throws {
        let store = try BatchStore(options: Self.options)
        let announcement = Announcement(store.container.persistentStoreCoordinator)
        let description = NSPersistentStoreDescription(url: store.url)
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        let other = try Library.container(Library.model(), description).newBackgroundContext()
        try other.performAndWait {
            other.make("Tag", ["name": "theirs"])
            try other.save()
        }
        #expect(announcement.wait())
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        request.resultType = .count
        #expect(try store.execute(request, NSPersistentHistoryResult.self).result as? Int == 1)
    }

    @Test("A save of another process is announced")
    func otherProcess() throws {
        let store = try BatchStore(options: Self.options)
        let announcement = Announcement(store.container.persistentStoreCoordinator)
        let child = Process()
        // This program again, with nothing but the test below.
        child.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        child.arguments =
            Self.argumentsBeforeFilter() + ["--testing-library", "swift-testing", "--filter", "savesInAnotherProcess"]
        child.environment = ProcessInfo.processInfo.environment.merging([childStore: store.url.path]) { $1 }
        child.standardOutput = FileHandle.nullDevice
        child.standardError = FileHandle.nullDevice
        try child.run()
        child.waitUntilExit()
        #expect(try store.rows("SELECT ZNAME FROM ZTAG") == ["from another process"])
        #expect(announcement.wait())
        try store.context.performAndWait {
            let tags = try store.context.all("Tag")
            #expect(tags.map { $0.string("name") } == ["from another process"])
        }
    }

    /// What a program that loads the tests from a bundle needs to be told again.
    private static func argumentsBeforeFilter() -> [String] {
        let arguments = ProcessInfo.processInfo.arguments
        guard let position = arguments.firstIndex(of: "--test-bundle-path"), position + 1 < arguments.count else {
            return []
        }
        return [arguments[position], arguments[position + 1]]
    }

    @Test(
        "The other process: saves into the store that it is told",
        .enabled(if: ProcessInfo.processInfo.environment[childStore] != nil, "runs in a child process only"))
    func savesInAnotherProcess() throws {
        let path = try #require(ProcessInfo.processInfo.environment[childStore])
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        let context = try Library.container(Library.model(), description).newBackgroundContext()
        try context.performAndWait {
            context.make("Tag", ["name": "from another process"])
            try context.save()
        }
    }
}
