import Foundation

/// Key in an error's user info: the save whose outcome is unknown (``NSPostgreSQLUndecidedSave``).
public let NSPostgreSQLUndecidedSaveErrorKey = "NSPostgreSQLUndecidedSave"

/// A save whose connection was lost before the server answered to `COMMIT`, and whose outcome no server could be asked
/// for in time.
///
/// ```swift
/// do { try context.save() } catch {
///     if let save = NSPostgreSQLUndecidedSave(of: error) { later.append(save) }
/// }
/// // When the servers are back:
/// if try !save.wasSaved(at: url) { … }
/// ```
///
/// It can be kept in a file, and another process can ask for its outcome.
public struct NSPostgreSQLUndecidedSave: Codable, Hashable, Sendable {
    let schema: String
    let writer: UUID
    let number: Int64
    let date: Date

    /// How many days a store keeps the marks of saves.
    static let daysKept = 30

    init(_ mark: SaveMark, schema: String, date: Date = Date()) {
        (self.schema, writer, number, self.date) = (schema, mark.writer, mark.number, date)
    }

    /// Creates the save that an error is about.
    ///
    /// - Parameter error: an error of a save. The result is `nil` for an error about anything else, or about a store
    ///   that keeps no marks.
    public init?(of error: any Error) {
        var next: NSError? = error as NSError
        while let error = next {
            if let save = error.userInfo[NSPostgreSQLUndecidedSaveErrorKey] as? Self {
                self = save
                return
            }
            next = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return nil
    }
}
