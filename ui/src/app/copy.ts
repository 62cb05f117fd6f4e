/** Copies text; answers whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A web view without the clipboard API still has the old command.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'vh';
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}
