import CoreData
import HTTPMessages
import StoreReading

/// The bytes of a value: images are displayed, everything else is downloaded as a file.
enum ValueContent {
    /// - Parameters:
    ///   - identifier: the object.
    ///   - names: the attribute; after a composite one, the elements on the way to the value.
    ///   - session: the store.
    /// - Returns: the bytes.
    /// - Throws: `PageFailure` if there is no such value.
    static func response(
        _ identifier: NSManagedObjectID, _ names: [String], _ session: BrowserSession
    ) throws -> HTTPResponse {
        guard let name = names.first, let row = try session.store.namedRow(identifier),
            let slot = row.objectID.layout.slotIndex(forName: name),
            let attribute = row.objectID.layout.slots[slot].attribute,
            let value = FieldValue(row.values[slot], attribute).element(names.dropFirst())
        else { throw PageFailure.missing("There is no such value.") }
        let data: Data
        switch value {
        case .data(let value): data = value
        case .null: throw PageFailure.missing("There is no value.")
        case .missing(_, let reason), .unknown(let reason): throw PageFailure.missing(reason)
        case let value: data = Data(DumpJSON.text(of: value).utf8)
        }
        let type = MediaType(of: data)
        var response = HTTPResponse(
            status: 200, type: type?.rawValue ?? "application/octet-stream", body: .data(data))
        let file = "\(identifier.layout.name)-\(identifier.key)-\(names.joined(separator: "-"))".filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        response.headers.append(
            .init("Content-Disposition", "\(type == nil ? "attachment" : "inline"); filename=\"\(file)\""))
        return response
    }
}

extension FieldValue {
    /// The element that names lead to; nil if there is none.
    fileprivate func element(_ names: ArraySlice<String>) -> FieldValue? {
        guard let name = names.first else { return self }
        guard case .composite(let elements) = self else { return nil }
        return elements.first { $0.name == name }?.value.element(names.dropFirst())
    }
}
