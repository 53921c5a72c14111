// Properties use Foundation's dates, decimals, UUIDs and URLs.
@_exported import Foundation
