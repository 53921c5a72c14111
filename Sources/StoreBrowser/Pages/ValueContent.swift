import CoreData
import HTTPMessages
import StoreReading

/// The bytes of a value: images are displayed, everything else is downloaded as a file.
enum ValueContent {
    static func response(_ identifier: NSManagedObjectID, _ name: String, _ session: BrowserSession) throws
        -> HTTPResponse
    {
        guard let row = try session.store.namedRow(identifier),
            let slot = row.objectID.layout.slotIndex(forName: name),
            let attribute = row.objectID.layout.slots[slot].attribute
        else { throw PageFailure.missing("There is no such value.") }
        let data: Data
        switch FieldValue(row.values[slot], attribute) {
        case .data(let value): data = value
        case .null: throw PageFailure.missing("There is no value.")
        case let value: data = Data(DumpJSON.text(of: value).utf8)
        }
        let type = MediaType(of: data)
        var response = HTTPResponse(
            status: 200, type: type?.rawValue ?? "application/octet-stream", body: .data(data))
        let file = "\(identifier.layout.name)-\(identifier.key)-\(name)".filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        response.headers.append(
            .init("Content-Disposition", "\(type == nil ? "attachment" : "inline"); filename=\"\(file)\""))
        return response
    }
}
