import CoreData
import Foundation
import MigrationChild
import TestSupport
import Testing

@Suite("Saves that are killed", .ownThread)
struct KilledSaveTests {
    @Test("leave neither a value without its file nor, once the store was opened again, a file without its value")
    func externalData() throws {
        let folder = try TestFolder()
        let store = folder.file("books.sqlite")
        for round in 0..<12 {
            let process = Process()
            process.executableURL = Bundle.main.bundleURL.appendingPathComponent("MigrationChild")
            process.arguments = ["covers", store.path]
            process.standardError = FileHandle.nullDevice
            try process.run()
            let files = folder.file(".books_SUPPORT/_EXTERNAL_DATA")
            for _ in 0..<500 where names(files).count < 3 { usleep(20_000) }
            usleep(UInt32(round * 7_919 % 40_000))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshelf.model(1))
            let opened = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: store)
            let rows = try plainRows(
                "SELECT CAST(substr(ZCOVER, 2, 36) AS TEXT) FROM ZBOOK WHERE ZCOVER NOT NULL", in: store)
            #expect(names(files) == Set(rows.compactMap { $0[0] }))
            #expect(names(files.deletingLastPathComponent()) == ["_EXTERNAL_DATA"])
            try coordinator.remove(opened)
        }
    }

    private func names(_ folder: URL) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    }
}
