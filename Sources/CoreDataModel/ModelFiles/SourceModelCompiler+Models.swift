import Foundation

extension SourceModelCompiler {
    /// The content of a `.mom` file.
    ///
    /// - Throws: an error in the Cocoa domain that names the entity and property which no archive can hold.
    package static func compiledData(of model: NSManagedObjectModel, file: URL? = nil) throws -> Data {
        try ModelFileError.naming(file) { try compiledData(of: ModelDocument(model)) }
    }
}
