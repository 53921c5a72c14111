#if canImport(Glibc)
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    @testable import SQLiteEngine

    @Suite("Writes to a store's files by anybody are heard of")
    struct StoreWatcherTests {
        private let folder: TestFolder
        private let count = Counter()
        private let watcher: StoreWatcher

        private final class Counter: Sendable {
            private let heard = Atomic(0)
            var value: Int { heard.load(ordering: .acquiring) }
            func add() { heard.add(1, ordering: .acquiringAndReleasing) }
        }

        init() throws {
            folder = try TestFolder()
            let count = count
            let made = StoreWatcher(folder.store, on: DispatchQueue(label: "test")) { count.add() }
            watcher = try #require(made)
        }

        /// Waits until more has been heard than before.
        private func hears(moreThan before: Int) async throws -> Bool {
            try await eventually { count.value > before }
        }

        @Test("are heard of in its log, and nothing else in the folder is")
        func files() async throws {
            try Data("x".utf8).write(to: folder.store.deletingLastPathComponent().appending(path: "other"))
            try await Task.sleep(for: .milliseconds(50))
            #expect(count.value == 0)
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder.store.path + "-wal"))
            #expect(try await hears(moreThan: 0))
        }

        @Test("Thousands of writes are heard of a few times, and the last of them is")
        func storm() async throws {
            try Data().write(to: folder.store)
            let file = try FileHandle(forWritingTo: folder.store)
            let clock = ContinuousClock()
            let time = clock.measure {
                for _ in 0..<10_000 { try? file.write(contentsOf: Data("x".utf8)) }
            }
            // One at the beginning, one in ten milliseconds, and one for the end.
            try await Task.sleep(for: .milliseconds(100))
            #expect(count.value >= 1)
            #expect(count.value <= Int(time / .milliseconds(10)) + 5)
            let before = count.value
            try file.write(contentsOf: Data("x".utf8))
            #expect(try await hears(moreThan: before))
        }

        @Test("Many writes at once can be made without reports; all who listen are told once at the end", .ownThread)
        func silence() async throws {
            let log = URL(fileURLWithPath: folder.store.path + "-wal")
            try Data().write(to: log)
            #expect(try await hears(moreThan: 0))
            let others = Counter()
            let other = try #require(
                StoreWatcher(folder.store, on: DispatchQueue(label: "other")) { others.add() })
            try await Task.sleep(for: .milliseconds(50))
            let before = count.value
            let file = try FileHandle(forWritingTo: log)
            try watcher.withoutReports {
                // A suppression within another ends with the outer one.
                try other.withoutReports { try file.write(contentsOf: Data("x".utf8)) }
                let told = count.value
                try file.write(contentsOf: Data("x".utf8))
                Thread.sleep(forTimeInterval: 0.05)
                #expect(count.value <= max(told, before + 1))
            }
            #expect(try await hears(moreThan: before))
            try await Task.sleep(for: .milliseconds(50))
            #expect(others.value == 2)
            let after = count.value
            try file.write(contentsOf: Data("x".utf8))
            #expect(try await hears(moreThan: after))
        }

        @Test("Beside other stores of the folder, all writes are reported", .ownThread)
        func otherStores() async throws {
            let others = Counter()
            let other = try #require(
                StoreWatcher(folder.file("other.sqlite"), on: DispatchQueue(label: "other")) { others.add() })
            try watcher.withoutReports {
                try Data("x".utf8).write(to: folder.file("other.sqlite"))
                for _ in 0..<1_000 where others.value == 0 { Thread.sleep(forTimeInterval: 0.005) }
                #expect(others.value > 0)
            }
            withExtendedLifetime(other) {}
        }

        @Test("Writes are reported again from a folder that was moved while they were not")
        func movedFolder() async throws {
            let log = folder.store.lastPathComponent + "-wal"
            let place = folder.store.deletingLastPathComponent()
            let moved = place.appendingPathExtension("moved")
            try Data().write(to: place.appending(path: log))
            let file = try FileHandle(forWritingTo: place.appending(path: log))
            try watcher.withoutReports { try FileManager.default.moveItem(at: place, to: moved) }
            defer { try? FileManager.default.moveItem(at: moved, to: place) }
            #expect(try await hears(moreThan: 0))
            try await Task.sleep(for: .milliseconds(50))
            let before = count.value
            // A file that is there already: its making would be reported at all times.
            try file.write(contentsOf: Data("x".utf8))
            #expect(try await hears(moreThan: before))
        }
    }
#endif
