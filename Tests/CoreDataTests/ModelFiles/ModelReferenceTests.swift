import CoreData
import Testing

@Suite("NSManagedObjectModelReference") struct ModelReferenceTests {
    @Test("A reference to a model in memory has that model") func inMemory() {
        let model = Library.model()
        let reference = NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        #expect(reference.resolvedModel === model)
        #expect(reference.versionChecksum == model.versionChecksum)
    }

    @Test("A reference to a file that is missing is refused with its code") func missingFile() {
        let reference = NSManagedObjectModelReference(
            fileURL: URL(fileURLWithPath: "/nowhere/Library.momd"), versionChecksum: "")
        let error = #expect(throws: NSError.self) { try reference.resolve() }
        #expect(error?.code == NSManagedObjectModelReferenceNotFoundError)
        #expect(error?.localizedDescription.contains("/nowhere/Library.momd") == true)
    }

    @Test("References by name and by version hashes look into the bundle") func inBundle() {
        for reference in [
            NSManagedObjectModelReference(name: "NoSuchModel", in: nil, versionChecksum: ""),
            NSManagedObjectModelReference(entityVersionHashes: ["A": Data()], in: nil, versionChecksum: ""),
        ] {
            #expect(throws: NSError.self) { try reference.resolve() }
        }
    }

    @Test("A model with a checksum of Apple's is refused where the reference has another one") func checksum() throws {
        let model = Library.model()
        let free = NSManagedObjectModelReference(model: model, versionChecksum: "of Apple's")
        #expect(throws: Never.self) { try free.resolve() }
        model.recordVersionHashes(model.entitiesByName.mapValues { _ in Data([1]) })
        model.recordedVersionChecksum = "of another version"
        #expect(throws: NSError.self) { try free.resolve() }
        model.recordedVersionChecksum = "of Apple's"
        #expect(throws: Never.self) { try free.resolve() }
    }

    @Test("With version hashes of Apple's, the checksum is Apple's, whether the file carries it or not")
    func appleChecksum() throws {
        let hashes = [
            "User": "akfL7w4/hMJEkkn9yD8APX5RQ3j47pp2qNTA7IuxuCI=",
            "Pet": "dnNCJipkWHMMeKrnPFMo0PyqTjWW0vh/IuNm60ap9G8=",
        ]
        let model = NSManagedObjectModel()
        model.entities = hashes.keys.map { Library.entity($0, []) }
        model.recordVersionHashes(hashes.compactMapValues { Data(base64Encoded: $0) })
        #expect(model.versionChecksum == "rzn6eNBLyn8k3AoC3kH3yymPT0vSUPaVcgi0v2SuHS8=")
    }
}
