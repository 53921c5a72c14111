import CoreData
import KeyedArchives

/// The rows of `Z_MODELCACHE`. Core Data keeps one copy of the model; other programs have left several, or one of
/// another version than the metadata. Pure.
enum ModelCopies {
    /// How many bytes a model may have: an archive of it takes many times as much in memory.
    private static let largest = 8 << 20

    /// The first copy that can be read and is of the version in the metadata; if there is none, the first.
    ///
    /// - Parameters:
    ///   - copies: the copies in their stored form.
    ///   - hashed: the names of the entities that the metadata have version hashes of.
    /// - Returns: the copy; nil if there are none.
    static func current(_ copies: [Data], hashed: Set<String>) -> Data? {
        guard copies.count > 1 else { return copies.first }
        let current = copies.first { copy in
            (try? document(of: copy)).map { missing(from: $0, hashed: hashed).isEmpty } ?? false
        }
        return current ?? copies.first
    }

    /// The model of a copy.
    ///
    /// - Throws: the errors of a damaged archive.
    static func document(of copy: Data) throws -> ModelDocument {
        try ModelArchiveReader.document(of: RawDeflate.inflate(copy, limit: largest))
    }

    /// The entities that the metadata have version hashes of, and the copy does not have: it is of another version.
    static func missing(from document: ModelDocument, hashed: Set<String>) -> [String] {
        hashed.subtracting(document.entities.map(\.name)).sorted()
    }

    /// What is said of a copy of another version, without its beginning and final period; nil for one of the right one.
    static func outdatedText(_ document: ModelDocument, hashed: Set<String>) -> String? {
        let missing = missing(from: document, hashed: hashed)
        guard !missing.isEmpty else { return nil }
        let names = missing.map { "“\($0)”" }.joined(separator: ", ")
        let entities = missing.count == 1 ? "entity" : "entities"
        return "is of another version than the metadata, and lacks \(entities) \(names)"
    }
}
