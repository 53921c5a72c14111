import Foundation
import SwiftData
import TestSupport
import Testing

@Suite("A store of models")
struct LayoutTests {
    private func schemaSQL(_ store: URL) throws -> [String: Set<String>] {
        let rows = try plainRows("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL", in: store)
        // The order of columns is left out.
        return Dictionary(
            rows.map { row in
                let columns = (row[1] ?? "").split { "(),".contains($0) }
                return (row[0] ?? "", Set(columns.map { $0.trimmingCharacters(in: .whitespaces) }))
            }, uniquingKeysWith: { first, _ in first })
    }

    @Test("has the tables, columns and indexes that Apple's SwiftData makes for them", .enabled(if: Fixtures.areThere))
    func oracle() throws {
        let folder = try TestFolder()
        let apple = try folder.copy("swiftdata-scheduler/scheduler.sqlite")
        let container = try ModelContainer(
            for: Scheduler.Task.self, configurations: ModelConfiguration(url: folder.store))
        let (ours, theirs) = (try schemaSQL(folder.store), try schemaSQL(apple))
        #expect(Set(ours.keys) == Set(theirs.keys))
        for (name, columns) in theirs { #expect(ours[name] == columns, "\(name)") }
        withExtendedLifetime(container) {}
    }

    @Test("is opened unchanged, read and written if Apple's SwiftData made it", .enabled(if: Fixtures.areThere))
    func apple() throws {
        let folder = try TestFolder()
        let store = try folder.copy("swiftdata-scheduler/scheduler.sqlite")
        let metadata = try plainSQL("SELECT Z_PLIST FROM Z_METADATA", in: store)
        let container = try ModelContainer(for: Scheduler.Task.self, configurations: ModelConfiguration(url: store))
        let context = ModelContext(container)
        let tasks = try context.fetch(
            FetchDescriptor<Scheduler.Task>(sortBy: [SortDescriptor(\.id), SortDescriptor(\.effectiveFrom)]))
        #expect(tasks.map(\.id) == ["task1", "task1", "task2", "task2", "task3"])
        #expect(try context.fetchCount(FetchDescriptor<Scheduler.Outcome>()) == 0)
        let last = try #require(tasks.last)
        #expect(last.title.key == "Task 3 %lf %f %lld %llu %@")
        #expect(last.title.arguments.first == .placeholder(.double))
        #expect(last.completionPolicy == .sameDay)
        #expect(last.notificationThread == .global)
        #expect(last.schedule.scheduleDuration == .tillEndOfDay)
        #expect(
            last.schedule.notificationMatchingHint
                == .components(month: nil, day: nil, hour: 10, minute: 0, second: 0, weekday: nil))
        #expect(last.notificationTime == nil)
        #expect(last.tags == [])
        #expect(last.userInfo == Scheduler.UserInfo())
        last.notificationThread = .custom("mine")
        context.insert(Scheduler.Outcome(id: UUID(), task: last))
        try context.save()
        #expect(try plainSQL("SELECT Z_PLIST FROM Z_METADATA", in: store) == metadata)
        #expect(
            try plainSQL("SELECT Z_0, ZGLOBAL, ZTASK, ZNONE FROM ZTASK WHERE ZID = 'task3'", in: store) == ["mine|||"])
        #expect(
            try plainNumber("SELECT COUNT(*) FROM ZOUTCOME JOIN ZTASK ON ZOUTCOME.ZTASK = ZTASK.Z_PK", in: store) == 1)
        #expect(try #require(try plainNumber("SELECT COUNT(*) FROM ACHANGE", in: store)) > 5)
    }

    @Test("keeps structs and enumerations in a column for each element")
    func composites() throws {
        let folder = try TestFolder()
        let container = try ModelContainer(for: Book.self, configurations: ModelConfiguration(url: folder.store))
        let context = ModelContext(container)
        let book = Book(isbn: "1", title: "Emma")
        book.kind = .play
        book.tags = ["a", "b"]
        book.size = Book.Size(width: 3, height: 4)
        context.insert(book)
        try context.save()
        // The archive of bytes that are JSON.
        let tags = try #require(try plainSQL("SELECT ZTAGS FROM ZBOOK", in: folder.store).first)
        #expect(tags.contains("[\"a\",\"b\"]".utf8.map { String(format: "%02X", $0) }.joined()))
        #expect(try plainSQL("SELECT ZKIND, ZWIDTH, ZHEIGHT, ZYEAR FROM ZBOOK", in: folder.store) == ["play|3|4|1800"])
    }

    @Test("names the version of its schema")
    func version() throws {
        let folder = try TestFolder()
        let schema = Schema([Item.self], version: Schema.Version(2, 1, 0))
        _ = try ModelContainer(for: schema, configurations: ModelConfiguration(url: folder.store))
        #expect(try storedVersions(folder.store) == ["2.1.0"])
    }
}
