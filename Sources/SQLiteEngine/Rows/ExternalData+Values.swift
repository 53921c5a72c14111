import CoreDataModel
import Foundation

extension ExternalData {
    /// The value for a column of bytes: from the column itself, or from the file that it names. If the file is missing,
    /// a stand-in is returned.
    func value(of bytes: Data, allowsExternal: Bool, _ decode: (Data) -> StoredValue) -> StoredValue {
        guard allowsExternal else { return decode(bytes) }
        switch content(of: bytes) {
        case .value(let content): return decode(content)
        case .missing(let missing): return .object(missing)
        }
    }
}
