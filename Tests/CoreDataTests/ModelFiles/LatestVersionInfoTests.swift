import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import ModelFiles

@Suite("What a package says of its versions")
struct LatestVersionInfoTests {
    private let folder: TestFolder
    private let file: URL

    init() throws {
        folder = try TestFolder()
        file = folder.file("VersionInfo.plist")
    }

    private func write(_ name: String) throws {
        var info = VersionInfo()
        info.currentVersionName = name
        try info.data().write(to: file, options: .atomic)
    }

    private func set(modified date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    @Test("is read anew once the file is another one")
    func changed() throws {
        var latest = LatestVersionInfo()
        for name in ["One", "Two", "Longer"] {
            try write(name)
            #expect(try latest.info(of: file).currentVersionName == name)
        }
        try FileManager.default.removeItem(at: file)
        #expect(throws: (any Error).self) { try latest.info(of: file) }
    }

    @Test("is read once while the file stays as it is")
    func unchanged() throws {
        var latest = LatestVersionInfo()
        let date = Date(timeIntervalSince1970: 1_000_000)
        try write("One")
        try set(modified: date)
        #expect(try latest.info(of: file).currentVersionName == "One")
        // Damaged, and the same by all that shows without reading it.
        let size = try Data(contentsOf: file).count
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data(repeating: 0x2A, count: size))
        try handle.close()
        try set(modified: date)
        #expect(try latest.info(of: file).currentVersionName == "One")
        try set(modified: date + 1)
        #expect(throws: (any Error).self) { try latest.info(of: file) }
    }
}
