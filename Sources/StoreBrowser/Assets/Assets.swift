/// The resources of the pages: icon, script and style. They are texts in the program, so that they are available in
/// static builds, too, and wherever the program is installed.
enum Assets {
    /// An apple.
    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#c8503c" d="M16 9c-3-3-11-2-11 7 0 7 5 13 8 13 1.500 0 2-.8 3-.8s1.500.8 3 .8c3 \
        0 8-6 8-13 0-9-8-10-11-7z"/><path fill="#5a9a48" d="M16 8c0-4 3-6 6-6 0 4-3 6-6 6z"/></svg>
        """
}
