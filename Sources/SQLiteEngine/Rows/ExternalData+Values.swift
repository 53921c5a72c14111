import CoreDataModel
import Foundation

extension ExternalData {
    /// The value of a column of bytes: of what the column has, or of what the file has that it names. A file that is missing is
    /// kept in the value's place.
    func value(of bytes: Data, allowsExternal: Bool, _ decode: (Data) -> StoredValue) -> StoredValue {
        guard allowsExternal else { return decode(bytes) }
        switch content(of: bytes) {
        case .value(let content): return decode(content)
        case .missing(let missing): return .object(missing)
        }
    }
}
